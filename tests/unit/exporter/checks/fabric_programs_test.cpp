// Checks 2 and 6 with libfabric's own programs, as Debian has them: over TCP and shared memory,
// because no machine of the tests has an EFA device. The profile chooses the provider.
#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <optional>

#include "exporter/checks/check/decide.h"
#include "exporter/checks/efa/efa_enumeration_check.h"
#include "exporter/checks/efa/efa_loopback_check.h"
#include "tests/support/deadline.h"
#include "tests/support/environment.h"
#include "tests/support/require.h"
#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// fi_info's name for reliable datagrams over libfabric's TCP, up to libfabric 1.17.
constexpr const char* kTcp = "tcp;ofi_rxm";

class FabricPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"fi_info", "fi_pingpong"})
      GPUWARD_REQUIRE(support::why_no_program(program));
    const std::filesystem::path programs = support::find_program("fi_pingpong");
    node_.emplace();
    node_->settings.tool_dirs = {programs.parent_path()};
    node_->settings.efa_test_timeout = support::kGenerous;  // its processes poll without a pause
  }
  void use_provider(const std::string& provider) {
    node_->type = "test.large";
    node_->profile = InstanceProfile{node_->type, 2, 4, false, provider};
  }
  CheckResult run(const CheckEntry& entry) {
    return decide_status(node_->run(*entry.make()), entry.name, {});
  }

  support::Environment interface_{"FI_TCP_IFACE", "lo"};
  std::optional<ExternalCheckNode> node_;
};

TEST_F(FabricPrograms, Check6MeasuresABandwidthOverTcp) {
  use_provider(kTcp);
  node_->settings.efa_min_gbits = 0.001;
  const CheckResult result = run(efa_loopback_entry());
  EXPECT_EQ(result.status, CheckStatus::kPass) << result.details;
  EXPECT_THAT(
      result.details,
      MatchesRegex(
          "1 of 1 devices completed the loopback test, the slowest at [0-9]+.[0-9] Gbit/s"));
}

TEST_F(FabricPrograms, Check6MeasuresABandwidthOverSharedMemory) {
  use_provider("shm");
  node_->settings.efa_min_gbits = 0.001;
  const CheckResult result = run(efa_loopback_entry());
  EXPECT_EQ(result.status, CheckStatus::kPass) << result.details;
  EXPECT_THAT(result.details, HasSubstr("1 of 1 devices completed the loopback test"));
}

TEST_F(FabricPrograms, Check6WarnsIfTheBandwidthIsBelowTheThreshold) {
  use_provider(kTcp);
  node_->settings.efa_min_gbits = 1'000'000;
  const CheckResult result = run(efa_loopback_entry());
  EXPECT_EQ(result.status, CheckStatus::kWarn) << result.details;
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].code, "efa_loopback_slow");
  EXPECT_THAT(result.findings[0].line,
              MatchesRegex("lo: [0-9]+.[0-9] Gbit/s, minimum is 1000000.0 Gbit/s"));
}

TEST_F(FabricPrograms, Check6SkipsIfLibfabricHasNoDeviceOfTheProvider) {
  use_provider("efa");
  node_->profile->efa_devices = 0;
  const CheckResult result = run(efa_loopback_entry());
  EXPECT_EQ(result.status, CheckStatus::kSkip) << result.details;
  EXPECT_THAT(result.details, HasSubstr("no EFA device here: fi_info ended with 61"));
}

TEST_F(FabricPrograms, Check2FindsTheProviderThatLibfabricOffers) {
  node_->host.with_efa(4).with_process(300, "containerd").with_memory_lock(300, "unlimited");
  node_->settings.gdrcopy_dir = node_->host.paths().dev / "gdrcopy";
  use_provider(kTcp);
  const CheckResult offered = run(efa_enumeration_entry());
  EXPECT_EQ(offered.status, CheckStatus::kPass) << offered.details;

  use_provider("efa");
  const CheckResult missing = run(efa_enumeration_entry());
  EXPECT_EQ(missing.status, CheckStatus::kWarn) << missing.details;
  ASSERT_EQ(missing.findings.size(), 1U);
  EXPECT_EQ(missing.findings[0].code, "efa_provider_missing");
  EXPECT_THAT(missing.findings[0].line, HasSubstr("fi_info -p efa (exit code 61)"));
}

}  // namespace
}  // namespace gpuward::exporter
