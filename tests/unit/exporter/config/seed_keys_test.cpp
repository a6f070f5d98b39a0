#include "exporter/config/seed_keys.h"

#include <gtest/gtest.h>

#include <map>

#include "exporter/config/settings.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

SeedLookup lookup_in(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view key) -> Result<std::optional<std::string>> {
    const auto found = values.find(key);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

// CONTRACTS A, Settings.
TEST(SeedKeys, AreAllTakenUnderTheirOldNames) {
  Settings settings;

  const std::map<std::string, std::string, std::less<>> values = {
      {"CHECK_INTERVAL", "120"},
      {"DCGM_L2_INTERVAL", "7200"},
      {"CHECKS_LIGHTWEIGHT", "0 2"},
      {"ENABLE_TAINT", "false"},
      {"ENABLE_LABEL", "false"},
      {"ENABLE_ANNOTATION", "false"},
      {"ENABLE_CONDITION", "false"},
      {"DCGM_TIMEOUT", "600"},
      {"DCGM_L4_TIMEOUT", "7000"},
      {"CHECK_TIMEOUT", "100"},
      {"KERNEL_LOG_LINES", "4000"},
      {"NVIDIA_LOG_TAIL", "200"},
      {"STRICT_PSHC", "1"},
      {"NVLINK5_DEFAULT", "RESET"},
      {"NVLINK_DEFAULT", "REBOOT"},
      {"MAX_RETIRED_PAGES_SBE", "10"},
      {"EFA_MIN_BW", "25"},
      {"EFA_TEST_TIMEOUT", "90"},
      {"HEALTHCHECK_NUM_NODES", "4"},
      {"NCCL_TIMEOUT", "1000"},
      {"NCCL_ISOLATION_TESTS", "true"},
      {"NCCL_ISOLATION_TIMEOUT", "300"},
      {"NCCL_MIN_BUS_BW", "400"},
      {"NCCL_CONTAINER", "docker://example.org/nccl-tests:1"},
      {"NCCL_HOSTFILE", "/etc/nccl/hosts"},
      {"RESULTS_DIR", "/tmp/results"},
      {"instance-profiles.conf", "x9.huge|4|2|true|efa\n"}};
  for (const std::string_view key : seed_keys()) EXPECT_TRUE(values.contains(key)) << key;

  const Status status = apply_seed_keys(lookup_in(values), "test", settings);

  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(settings.checks.check_interval, 120s);
  EXPECT_EQ(settings.checks.dcgm_l2_interval, 2h);
  EXPECT_EQ(settings.checks.enabled, (std::vector<int>{0, 2}));
  EXPECT_FALSE(settings.node.writes_taint);
  EXPECT_FALSE(settings.node.writes_labels);
  EXPECT_FALSE(settings.node.writes_annotation);
  EXPECT_FALSE(settings.node.writes_condition);
  EXPECT_EQ(settings.checks.dcgm_timeout, 600s);
  EXPECT_EQ(settings.checks.dcgm_l4_timeout, 7000s);
  EXPECT_EQ(settings.checks.check_timeout, 100s);
  EXPECT_EQ(settings.catalogue.xid.at(165).severity, Severity::kIsolate);
  EXPECT_EQ(settings.catalogue.nvlink5_default, Severity::kReset);
  EXPECT_EQ(settings.catalogue.nvlink_default, Severity::kReboot);
  EXPECT_EQ(settings.checks.max_retired_pages_sbe, 10U);
  EXPECT_EQ(settings.checks.efa_min_gbits, 25);
  EXPECT_EQ(settings.checks.efa_test_timeout, 90s);
  EXPECT_EQ(settings.checks.nccl_nodes, 4U);
  EXPECT_EQ(settings.checks.nccl_timeout, 1000s);
  EXPECT_TRUE(settings.checks.nccl_isolation_tests);
  EXPECT_EQ(settings.checks.nccl_isolation_timeout, 300s);
  EXPECT_EQ(settings.checks.nccl_min_bus_bandwidth, 400);
  EXPECT_EQ(settings.checks.nccl_container, "docker://example.org/nccl-tests:1");
  EXPECT_EQ(settings.checks.nccl_hostfile, "/etc/nccl/hosts");
  EXPECT_EQ(settings.checks.results_dir, "/tmp/results");
  EXPECT_EQ(settings.checks.profiles.find("x9.huge")->efa_devices, 2U);
  EXPECT_TRUE(settings.checks.profiles.find("p5.48xlarge").has_value());
}

TEST(SeedKeys, KeepTheDefaultsOfTheReplacedSuiteIfNobodySetsThem) {
  Settings settings;

  ASSERT_TRUE(apply_seed_keys(lookup_in({}), "test", settings).has_value());

  EXPECT_EQ(settings.checks.check_interval, 300s);
  EXPECT_EQ(settings.checks.dcgm_l2_interval, 21600s);
  EXPECT_EQ(settings.checks.enabled, (std::vector<int>{0, 2, 3}));
  EXPECT_TRUE(settings.node.writes_taint);
  EXPECT_EQ(settings.checks.dcgm_timeout, 900s);
  EXPECT_EQ(settings.checks.max_retired_pages_sbe, 60U);
  EXPECT_EQ(settings.checks.efa_min_gbits, 20);
  EXPECT_EQ(settings.checks.nccl_nodes, 1U);
}

// `${CHECKS_LIGHTWEIGHT:-0 2 3}` of the replaced suite.
TEST(SeedKeys, ThatAreEmptyAreNotSet) {
  for (const char* empty : {"", "\n", " "}) {
    Settings settings;
    settings.node.writes_taint = false;
    std::map<std::string, std::string, std::less<>> values;
    for (const std::string_view key : seed_keys()) values.emplace(key, empty);

    const Status status = apply_seed_keys(lookup_in(values), "folder", settings);

    ASSERT_TRUE(status.has_value()) << status.error().message;
    EXPECT_EQ(settings.checks.enabled, (std::vector<int>{0, 2, 3}));
    EXPECT_EQ(settings.checks.check_interval, 300s);
    EXPECT_FALSE(settings.checks.check_timeout.has_value());
    EXPECT_FALSE(settings.node.writes_taint) << "what the file says stays";
  }
}

// No image is pulled unless an operator requests it. The replaced suite names an image of its own.
TEST(SeedKeys, NameNoImageOfNcclTests) { EXPECT_EQ(Settings().checks.nccl_container, ""); }

TEST(SeedKeys, RefuseANumberOfNodesThatIsNoneByName) {
  for (const char* value : {"0", "-2", "two", "65537", "2.5"}) {
    Settings settings;
    const Status status =
        apply_seed_keys(lookup_in({{"HEALTHCHECK_NUM_NODES", value}}), "environment", settings);
    ASSERT_FALSE(status.has_value()) << value;
    EXPECT_EQ(status.error().message,
              "environment: HEALTHCHECK_NUM_NODES: is not a number of nodes from 1 to 65536");
    EXPECT_EQ(settings.checks.nccl_nodes, 1U);
  }
}

TEST(SeedKeys, ThatAreWrongAreAllNamedAndNoneIsTaken) {
  Settings settings;

  const Status status = apply_seed_keys(lookup_in({{"CHECK_INTERVAL", "60"},
                                                   {"DCGM_TIMEOUT", "soon"},
                                                   {"ENABLE_TAINT", "yes"},
                                                   {"CHECKS_LIGHTWEIGHT", "0 9"},
                                                   {"NVLINK_DEFAULT", "ISOLATE"},
                                                   {"NVLINK5_DEFAULT", "ISOLATE"},
                                                   {"EFA_MIN_BW", "nan"},
                                                   {"NCCL_CONTAINER", "image --privileged"},
                                                   {"instance-profiles.conf", "x9.huge|many"}}),
                                        "environment", settings);

  ASSERT_FALSE(status.has_value());
  for (const char* key :
       {"DCGM_TIMEOUT", "ENABLE_TAINT", "CHECKS_LIGHTWEIGHT", "NVLINK_DEFAULT", "NVLINK5_DEFAULT",
        "EFA_MIN_BW", "NCCL_CONTAINER", "instance-profiles.conf"}) {
    EXPECT_NE(status.error().message.find("environment: " + std::string(key)), std::string::npos)
        << status.error().message;
  }
  EXPECT_EQ(settings.checks.check_interval, 300s);
}

TEST(SeedKeys, AreReadFromAFolderAsAConfigMapIsMounted) {
  const support::TempDir folder;
  folder.write("CHECK_INTERVAL", "45\n");

  const auto settings = load_settings({.folder = folder.path()});

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->checks.check_interval, 45s);
}

TEST(SeedKeys, OfTheFolderWinOverTheEnvironmentAndThatOverTheFile) {
  const support::TempDir folder;
  const auto file = folder.write("config.yaml", "checks: {interval: 10s, dcgm_l2: {interval: 1h}}");
  std::filesystem::create_directory(folder / "keys");
  folder.write("keys/CHECK_INTERVAL", "30");

  const auto settings = load_settings(
      {.file = file,
       .folder = folder / "keys",
       .environment = lookup_in({{"CHECK_INTERVAL", "20"}, {"DCGM_L2_INTERVAL", "60"}})});

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->checks.check_interval, 30s);
  EXPECT_EQ(settings->checks.dcgm_l2_interval, 60s);
}

}  // namespace
}  // namespace gpuward::exporter
