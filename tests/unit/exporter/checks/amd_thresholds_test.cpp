#include "exporter/checks/amd_thresholds.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

// CONTRACTS C: the nineteen fields, each 0 by default.
TEST(AmdThresholds, ContractCAreZeroForEachOfTheNineteenFields) {
  const AmdThresholds thresholds = default_amd_thresholds();
  EXPECT_EQ(thresholds.by_field.size(), 19U);
  for (const char* const field :
       {"SDMA", "GFX", "MMHUB", "ATHUB", "BIF", "HDP", "XGMI_WAFL", "DF", "SMN", "SEM", "MP0",
        "MP1", "FUSE", "UMC", "MCA", "VCN", "JPEG", "IH", "MPIO"}) {
    const auto found = thresholds.by_field.find(std::string("GPU_ECC_UNCORRECT_") + field);
    ASSERT_NE(found, thresholds.by_field.end()) << field;
    EXPECT_EQ(found->second, 0U) << field;
  }
}

TEST(AmdThresholds, ContractCAreReadFromTheFormatOfAmdsExporter) {
  const auto thresholds = parse_amd_thresholds(R"({
    "ServerPort": 5000,
    "GPUConfig": {
      "Fields": ["GPU_NODES_TOTAL"],
      "HealthThresholds": {"GPU_ECC_UNCORRECT_BIF": 2, "GPU_ECC_UNCORRECT_MCA": 3,
                           "GPU_CPER_MAX_AGE": "24h"}
    }
  })");
  ASSERT_TRUE(thresholds) << thresholds.error().message;
  EXPECT_EQ(thresholds->by_field.at("GPU_ECC_UNCORRECT_BIF"), 2U);
  EXPECT_EQ(thresholds->by_block.at("pcie_bif"), 2U);
  EXPECT_EQ(thresholds->by_block.at("mca_iohc"), 3U);
  EXPECT_EQ(thresholds->by_block.at("umc"), 0U);
}

TEST(AmdThresholds, AreTheDefaultsWhereTheFileHasNone) {
  for (const char* const text : {"{}", R"({"GPUConfig": {}})"}) {
    EXPECT_EQ(parse_amd_thresholds(text), default_amd_thresholds()) << text;
  }
}

TEST(AmdThresholds, NameTheFieldThatIsWrong) {
  for (const char* const bad :
       {R"("GPU_ECC_UNCORRECT_UMC": -1)", R"("GPU_ECC_UNCORRECT_UMC": 4294967296)",
        R"("GPU_ECC_UNCORRECT_UMC": "5")", R"("GPU_ECC_UNCORRECT_UMC": 1.5)",
        R"("GPU_ECC_UNCORRECT_UMCX": 5)", R"("UMC": 5)"}) {
    const auto read =
        parse_amd_thresholds(std::string(R"({"GPUConfig":{"HealthThresholds":{)") + bad + "}}}");
    ASSERT_FALSE(read) << bad;
    EXPECT_NE(read.error().message.find("HealthThresholds."), std::string::npos) << bad;
  }
  EXPECT_FALSE(parse_amd_thresholds("{\"GPUConfig\": "));
  EXPECT_FALSE(parse_amd_thresholds("[]"));
}

}  // namespace
}  // namespace gpuward::exporter
