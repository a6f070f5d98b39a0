#include "exporter/checks/rules/amd_thresholds.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace gpuward::exporter {
namespace {

// CONTRACTS C: the nineteen fields, each 0 by default.
TEST(AmdThresholds, AreZeroForEachOfTheNineteenFields) {
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

TEST(AmdThresholds, AreReadFromTheFormatOfAmdsExporter) {
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
  EXPECT_EQ(thresholds->cper_max_age, std::chrono::hours(24));
}

Result<AmdThresholds> with_max_age(const std::string& value) {
  return parse_amd_thresholds(R"({"GPUConfig":{"HealthThresholds":{"GPU_CPER_MAX_AGE":)" + value +
                              "}}}");
}

// AMD's exporter reads it with time.ParseDuration.
TEST(AmdThresholds, TheAgeOfAFatalCperRecordIsADurationOfGo) {
  using namespace std::chrono_literals;
  const std::pair<const char*, std::chrono::nanoseconds> kAges[] = {
      {"\"\"", 0ns},      {"\"0\"", 0ns},        {"\"0s\"", 0ns},      {"\"24h\"", 24h},
      {"\"30m\"", 30min}, {"\"1h30m\"", 90min},  {"\"1.5h\"", 90min},  {"\".5s\"", 500ms},
      {"\"1.s\"", 1s},    {"\"+2h\"", 2h},       {"\"10m1h\"", 70min}, {"\"3us\"", 3us},
      {"\"7ns\"", 7ns},   {"\"3\u00b5s\"", 3us}, {"\"3\u03bcs\"", 3us}};
  for (const auto& [text, age] : kAges) {
    const auto thresholds = with_max_age(text);
    ASSERT_TRUE(thresholds) << text << ": " << thresholds.error().message;
    EXPECT_EQ(thresholds->cper_max_age, age) << text;
  }
}

// For such a value AMD's exporter accepts any age, and writes a line to its log.
TEST(AmdThresholds, SayThatAnAgeIsNoDuration) {
  for (const char* const bad :
       {"24", "\"24\"", "\"1d\"", "\"h\"", "\"1h \"", "\"-1h\"", "\"1..5h\"", "\".h\"", "\"+\"",
        "\"1h2\"", "\"300000000h\"", "null", "[]"}) {
    const auto thresholds = with_max_age(bad);
    ASSERT_FALSE(thresholds) << bad;
    EXPECT_NE(thresholds.error().message.find("GPU_CPER_MAX_AGE has to be"), std::string::npos);
  }
}

// The driver's names for its blocks, in sysfs and in the kernel log.
TEST(AmdThresholds, EachOfTheNineteenFieldsIsABlockOfTheDriver) {
  const std::pair<const char*, const char*> kBlocks[] = {{"SDMA", "sdma"},
                                                         {"GFX", "gfx"},
                                                         {"MMHUB", "mmhub"},
                                                         {"ATHUB", "athub"},
                                                         {"BIF", "pcie_bif"},
                                                         {"HDP", "hdp"},
                                                         {"XGMI_WAFL", "xgmi_wafl"},
                                                         {"DF", "df"},
                                                         {"SMN", "smn"},
                                                         {"SEM", "sem"},
                                                         {"MP0", "mp0"},
                                                         {"MP1", "mp1"},
                                                         {"FUSE", "fuse"},
                                                         {"UMC", "umc"},
                                                         {"MCA", "mca"},
                                                         {"VCN", "vcn"},
                                                         {"JPEG", "jpeg"},
                                                         {"IH", "ih"},
                                                         {"MPIO", "mpio"}};
  ASSERT_EQ(std::size(kBlocks), 19U);
  for (const auto& [field, block] : kBlocks) {
    const auto read = parse_amd_thresholds(
        std::string(R"({"GPUConfig":{"HealthThresholds":{"GPU_ECC_UNCORRECT_)") + field +
        "\":7}}}");
    ASSERT_TRUE(read) << field;
    EXPECT_EQ(read->by_block.at(block), 7U) << field;
    EXPECT_EQ(read->by_block.at(std::string_view(block) == "umc" ? "gfx" : "umc"), 0U) << field;
  }
}

TEST(AmdThresholds, AreTheDefaultsIfTheFileHasNone) {
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
