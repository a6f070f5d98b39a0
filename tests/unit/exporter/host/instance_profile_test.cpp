#include "exporter/host/instance_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

Result<InstanceProfiles> parse(std::string_view text) {
  return InstanceProfiles::parse(text, "profiles.conf");
}

// CONTRACTS A, instance profiles.
TEST(InstanceProfiles, AreThoseOfTheReplacedSuite) {
  struct Row {
    const char* type;
    unsigned gpus, efa;
    bool nvlink;
  };
  constexpr Row kRows[]{{"p4d.24xlarge", 8, 4, true},   {"p4de.24xlarge", 8, 4, true},
                        {"p5.48xlarge", 8, 32, true},   {"p5e.48xlarge", 8, 32, true},
                        {"p5en.48xlarge", 8, 16, true}, {"p6-b200.48xlarge", 8, 8, true},
                        {"g6.48xlarge", 8, 1, false},   {"g6.xlarge", 1, 0, false}};
  const InstanceProfiles profiles = InstanceProfiles::built_in();
  for (const Row& row : kRows) {
    const auto profile = profiles.find(row.type);
    ASSERT_TRUE(profile) << row.type;
    EXPECT_EQ(profile->gpus, row.gpus) << row.type;
    EXPECT_EQ(profile->efa_devices, row.efa) << row.type;
    EXPECT_EQ(profile->expects_nvlink, row.nvlink) << row.type;
    EXPECT_EQ(profile->fabric_provider, "efa") << row.type;
  }
}

TEST(InstanceProfiles, KnowTheTypesOfClouds) {
  struct Row {
    const char* type;
    unsigned gpus;
    bool nvlink;
  };
  constexpr Row kRows[]{{"g4dn.metal", 8, false},
                        {"g5.4xlarge", 1, false},
                        {"g5.12xlarge", 4, false},
                        {"g6.16xlarge", 1, false},
                        {"g6e.48xlarge", 8, false},
                        {"p3.16xlarge", 8, true},
                        {"p6e-gb200.36xlarge", 4, true},
                        {"a2-megagpu-16g", 16, true},
                        {"a3-highgpu-8g", 8, true},
                        {"a3-highgpu-4g", 4, false},
                        {"a4x-highgpu-4g", 4, true},
                        {"g2-standard-32", 1, false},
                        {"g2-standard-24", 2, false},
                        {"Standard_ND96isr_H100_v5", 8, true},
                        {"Standard_NC48ads_A100_v4", 2, false},
                        {"BM.GPU.H100.8", 8, true},
                        {"BM.GPU.A100-v2.8", 8, true},
                        {"VM.GPU.A10.2", 2, false}};
  const InstanceProfiles profiles = InstanceProfiles::built_in();
  EXPECT_EQ(profiles.all().size(), 8U + 44U + 25U + 10U + 10U + 2U) << "each type is listed once";
  for (const Row& row : kRows) {
    const auto profile = profiles.find(row.type);
    ASSERT_TRUE(profile) << row.type;
    EXPECT_EQ(profile->gpus, row.gpus) << row.type;
    EXPECT_EQ(profile->expects_nvlink, row.nvlink) << row.type;
    EXPECT_EQ(profile->efa_devices, 0U) << row.type;
  }
}

// Names of issue 1501 of k8s-device-plugin, of a kernel oops on a DGX A100, and of its dmidecode.
TEST(InstanceProfiles, KnowMachinesByTheNameInTheirFirmware) {
  const InstanceProfiles profiles = InstanceProfiles::built_in();
  for (const char* const name :
       {"PowerEdge XE9680", "DGXA100 920-23687-2530-000", "DGXA100 920-23687-2531-001"}) {
    const auto profile = profiles.find_machine(name);
    ASSERT_TRUE(profile) << name;
    EXPECT_EQ(profile->gpus, 8U) << name;
    EXPECT_TRUE(profile->expects_nvlink) << name;
    EXPECT_EQ(profile->efa_devices, 0U) << name;
  }
  for (const char* const name : {"", "PowerEdge", "PowerEdge R760xa", "DGX Station A100",
                                 "Google Compute Engine", "Standard PC (i440FX + PIIX, 1996)"}) {
    EXPECT_FALSE(profiles.find_machine(name)) << name;
  }
}

// The replaced suite did not know ml.p5.48xlarge and passed 7 of 8 GPUs.
TEST(InstanceProfiles, AreFoundUnderTheNamesOfHyperPod) {
  const auto profile = InstanceProfiles::built_in().find("ml.p5.48xlarge");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->type, "p5.48xlarge");
  EXPECT_EQ(profile->gpus, 8U);
  EXPECT_EQ(parse("ml.x9.large|2|0|false|efa")->find("x9.large")->gpus, 2U);
}

TEST(InstanceProfiles, AreNoneForATypeThatNobodyHasDescribed) {
  EXPECT_FALSE(InstanceProfiles::built_in().find("p9.96xlarge"));
  EXPECT_FALSE(InstanceProfiles::built_in().find(""));
  EXPECT_FALSE(InstanceProfiles::built_in().find("p5.48xlarge "));
}

TEST(InstanceProfiles, AreReadFromTheOldFile) {
  const auto profiles = parse(
      "# INSTANCE_TYPE|GPU_COUNT|EFA_COUNT|NVLINK_EXPECTED|EFA_PROVIDER\r\n"
      "\r\n"
      " p5.48xlarge | 8 | 32 | true | efa \r\n"
      "bare.metal|4|0|false");
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->all().size(), 2U);
  EXPECT_EQ(profiles->find("p5.48xlarge")->efa_devices, 32U);
  EXPECT_EQ(profiles->find("bare.metal")->fabric_provider, "efa");
  EXPECT_TRUE(parse("")->all().empty());
}

TEST(InstanceProfiles, SayWhereAFileIsWrong) {
  for (const char* const line :
       {"p5.48xlarge", "p5.48xlarge|8|32", "p5.48xlarge|8|32|true|efa|more", "|8|32|true|efa",
        "p5 48xlarge|8|32|true|efa", "p5.48xlarge|eight|32|true|efa", "p5.48xlarge|-8|32|true|efa",
        "p5.48xlarge|8||true|efa", "p5.48xlarge|99999999999|32|true|efa",
        "p5.48xlarge|8|5000|true|efa", "p5.48xlarge|8|32|perhaps|efa", "p5.48xlarge|8|32|true|"}) {
    const auto profiles = parse("# first\n\n" + std::string(line) + "\n");
    ASSERT_FALSE(profiles) << line;
    EXPECT_EQ(profiles.error().kind, ErrorKind::kInvalid) << line;
    EXPECT_THAT(profiles.error().message, HasSubstr("profiles.conf:3")) << line;
  }
}

TEST(InstanceProfiles, TakeLayeredProvidersAsFiInfoPrintsThem) {
  EXPECT_TRUE(parse("a.b|8|0|true|tcp;ofi_rxm\n"));
  EXPECT_FALSE(parse("a.b|8|0|true|tcp;\n"));
}

// As the replaced suite reads its file.
TEST(InstanceProfiles, TakeTheFirstLineOfATypeAndACommentBehindIt) {
  const auto profiles = parse("a.b|8|0|true|efa # of team X\na.b|4|0|true|efa\nml.a.b|2|0|true\n");
  ASSERT_TRUE(profiles) << profiles.error().message;
  EXPECT_EQ(profiles->all().size(), 1U);
  EXPECT_EQ(profiles->find("a.b")->gpus, 8U);
  EXPECT_EQ(profiles->find("a.b")->fabric_provider, "efa");
}

// An instance that was launched with fewer cards than its type can have.
TEST(InstanceProfiles, OfTheOperatorReplaceOursOfTheSameType) {
  InstanceProfiles profiles = InstanceProfiles::built_in();
  profiles.add(*parse("p5.48xlarge|8|16|true|efa\np9.96xlarge|16|64|true|efa\n"));
  EXPECT_EQ(profiles.all().size(), InstanceProfiles::built_in().all().size() + 1);
  EXPECT_EQ(profiles.find("p5.48xlarge")->efa_devices, 16U);
  EXPECT_EQ(profiles.find("p9.96xlarge")->gpus, 16U);
}

}  // namespace
}  // namespace gpuward::exporter
