#include "exporter/watch/host_watcher.h"

#include <gmock/gmock.h>

#include <atomic>

#include "tests/support/host_tree.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostWatcherTest : public testing::Test {
 protected:
  // Runs a watcher until `holds` is true of the store.
  bool comes(const std::function<bool(const Snapshot&)>& holds) {
    HostWatcher watcher(
        tree.paths(),
        [this](const std::string& configured) {
          ++asked;
          if (!configured.empty())
            return InstanceType{configured, InstanceTypeSource::kConfigured, {}};
          return answer;
        },
        store, policy, clock, log);
    return support::poll_until([&] { return holds(store.snapshot()); });
  }

  support::HostTree tree;
  InstanceType answer{"p5.48xlarge", InstanceTypeSource::kMetadataV2, {}};
  std::atomic<int> asked = 0;
  CurrentPolicy policy{Settings{}};
  Store store{State{}};
  SystemClock clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
};

TEST_F(HostWatcherTest, SaysWhatAMachineOfThisTypeMustHaveAndWhatItsBusLists) {
  tree.with_nvidia_gpus(7).with_efa(32, 5);

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.has_profile; }));

  const Snapshot seen = store.snapshot();
  EXPECT_EQ(seen.instance.type, "p5.48xlarge");
  EXPECT_EQ(seen.instance.source, "imdsv2");
  EXPECT_EQ(seen.instance.gpus_expected, 8U);
  EXPECT_EQ(seen.instance.efa_expected, 32U);
  EXPECT_EQ(seen.instance.gpus_on_pci, 7U);
  EXPECT_EQ(seen.instance.efa_on_pci, 32U);
  EXPECT_EQ(seen.rdma.size(), 32U);
}

TEST_F(HostWatcherTest, RemembersTheMostEfaDevicesThatTheMachineHadOverARestart) {
  store.enter_machine({"ec2e1916-9099-7caf-fd21-012345abcdef", "p5.48xlarge"});
  tree.with_efa(32);
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.state.machine.efa_devices == 32; }));
  tree.loses_pci("0000:10:00.0");
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.efa_on_pci == 31; }));
  EXPECT_EQ(store.snapshot().state.machine.efa_devices, 32U);
}

// If the metadata service did not answer after a restart, a taint for a missing GPU was gone for
// ten minutes.
TEST_F(HostWatcherTest, RemembersTheTypeOfThisBootWhileNoSourceAnswers) {
  store.enter_boot("boot-1", clock.wall());
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "imdsv2"; }));
  answer = InstanceType{"", InstanceTypeSource::kUnknown, {"nobody answered"}};

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "remembered"; }));
  EXPECT_TRUE(
      comes([this](const Snapshot& seen) { return asked == 3 && seen.instance.has_profile; }));
  EXPECT_EQ(store.snapshot().instance.gpus_expected, 8U);

  store.enter_boot("boot-2", clock.wall());  // a stopped instance may have got another type
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "unknown"; }));
}

TEST_F(HostWatcherTest, ForgetsATypeThatWasOnlyConfigured) {
  store.enter_boot("boot-1", clock.wall());
  Settings settings;
  settings.checks.instance_type = "g6.xlarge";
  policy.set(settings);
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "configured"; }));
  policy.set(Settings{});
  answer = InstanceType{"", InstanceTypeSource::kUnknown, {"nobody answered"}};

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "unknown"; }));
}

// An unknown type switched all counts off silently.
TEST_F(HostWatcherTest, KeepsAnUnknownTypeApartFromOneWithAProfile) {
  answer.type = "x9.huge";

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.type == "x9.huge"; }));

  EXPECT_FALSE(store.snapshot().instance.has_profile);
  EXPECT_FALSE(store.snapshot().instance.gpus_expected.has_value());
}

// docs/migration.md greps for it.
TEST_F(HostWatcherTest, LogsTheTypeAndItsSourceWithAndWithoutAProfile) {
  log.set_level(LogLevel::kInfo);
  const auto logged = [&](const std::string& type) {
    answer.type = type;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(comes([&](const Snapshot& seen) { return seen.instance.type == type; }));
    return testing::internal::GetCapturedStderr();
  };
  const std::string known = logged("p5.48xlarge");
  EXPECT_THAT(known, HasSubstr("Detected instance type"));
  EXPECT_THAT(known, Not(HasSubstr("No profile")));
  const std::string unknown = logged("x9.huge");
  EXPECT_THAT(unknown, HasSubstr("Detected instance type\" instance_type=x9.huge source=imdsv2"));
  EXPECT_THAT(unknown, HasSubstr("No profile for this instance type"));
}

TEST_F(HostWatcherTest, TakesTheTypeThatTheSettingsName) {
  Settings settings;
  settings.checks.instance_type = "g6.xlarge";
  policy.set(settings);

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "configured"; }));

  EXPECT_EQ(store.snapshot().instance.gpus_expected, 1U);
}

TEST_F(HostWatcherTest, LooksAtTheBusAlsoIfNobodyKnowsTheType) {
  tree.with_amd_gpus(8);
  answer = InstanceType{"", InstanceTypeSource::kUnknown, {"nobody answered"}};

  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.instance.source == "unknown"; }));

  EXPECT_EQ(store.snapshot().instance.gpus_on_pci, 8U);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace gpuward::exporter
