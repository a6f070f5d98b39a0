#include "exporter/checks/efa/efa_enumeration_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "exporter/checks/check/decide.h"
#include "tests/unit/exporter/checks/check_bench.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kUnlimited = "unlimited";

class EfaEnumeration : public ::testing::Test {
 protected:
  EfaEnumeration() {
    bench_.node.profile = InstanceProfile{"p4d.24xlarge", 8, 4, true, "efa"};
    bench_.node.known.machine.efa_devices = 4;
    bench_.host.with_efa(4)
        .with_process(300, "containerd")
        .with_memory_lock(300, std::string(kUnlimited));
    install("tools/fi_info", "echo 'provider: efa'");
  }
  CheckResult result() { return decide_status(bench_.run(), "2-efa-enumeration", {}); }
  void install(const std::string& path, const std::string& script) {
    bench_.host.write("dev/" + path, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(bench_.host.paths().dev / path, std::filesystem::perms::owner_all);
  }
  CheckBench bench_{efa_enumeration_entry()};
};

TEST_F(EfaEnumeration, PassesWithAllDevices) {
  const CheckResult passed = result();
  EXPECT_EQ(passed.status, CheckStatus::kPass) << passed.details;
  EXPECT_EQ(passed.details, "4 EFA devices");
}

TEST_F(EfaEnumeration, FewerDevicesThanTypeAndMemoryHaveIsolate) {
  bench_.host.loses_pci("0000:10:00.0");
  const CheckResult failed = result();
  EXPECT_EQ(failed.severity, Severity::kIsolate);
  ASSERT_FALSE(failed.findings.empty());
  EXPECT_EQ(failed.findings[0].code, "efa_count");
  EXPECT_THAT(failed.details, HasSubstr("3 EFA devices"));
}

TEST_F(EfaEnumeration, FewerDevicesThanTheTableThatTheMachineNeverHadAreWatched) {
  bench_.host.loses_pci("0000:10:00.0");
  for (const unsigned had : {0U, 3U}) {
    bench_.node.known.machine.efa_devices = had;
    const CheckResult watched = result();
    EXPECT_EQ(watched.severity, Severity::kMonitor);
    EXPECT_EQ(watched.findings.at(0).code, "efa_count");
    EXPECT_THAT(watched.findings.at(0).why, HasSubstr("launched with fewer"));
  }
  bench_.node.settings.is_seed_profile = true;
  EXPECT_EQ(result().severity, Severity::kIsolate);
}

// An upgrade or a lost state has removed its history.
TEST_F(EfaEnumeration, AConfirmedFindingStaysWhileDevicesAreMissing) {
  bench_.host.loses_pci("0000:10:00.0");
  const Finding confirmed = result().findings.at(0);
  ASSERT_EQ(confirmed.severity, Severity::kIsolate);
  bench_.node.known.machine.efa_devices = 0;
  Finding& standing =
      bench_.node.known.findings[{"2-efa-enumeration", "efa_count", "", Evidence::kMeasured}];
  standing = confirmed;
  standing.last_boot_id = bench_.node.known.boot_id;

  EXPECT_EQ(result().severity, Severity::kIsolate);

  standing.last_boot_id = "an earlier boot";
  EXPECT_EQ(result().severity, Severity::kMonitor);
}

// Without the exporter's state the check cannot say that the machine never had any.
TEST_F(EfaEnumeration, NoDevicesAreWatchedIfNoHistoryIsKnown) {
  CheckBench bare(efa_enumeration_entry());
  bare.node.profile = bench_.node.profile;
  bare.node.known.machine.efa_devices = 0;
  bare.node.known.machine.machine.system_uuid = "";
  EXPECT_EQ(severity_of(bare.run(), "efa_count"), Severity::kMonitor);
}

TEST_F(EfaEnumeration, FewerDevicesThanTheMachineHadAreWatchedWithoutAProfile) {
  bench_.node.profile.reset();
  bench_.host.loses_pci("0000:10:00.0");
  const CheckResult watched = result();
  EXPECT_EQ(watched.severity, Severity::kMonitor);
  EXPECT_THAT(watched.findings.at(0).line,
              HasSubstr("3 EFA devices on the PCI bus; most seen on this machine: 4"));
}

TEST_F(EfaEnumeration, MoreDevicesThanTheProfileAreTheProfilesFault) {
  bench_.node.profile->efa_devices = 2;
  EXPECT_EQ(result().severity, Severity::kMonitor);
}

TEST_F(EfaEnumeration, P5enIsLookedAtThreeMoreTimesFiveSecondsApart) {
  bench_.node.profile->type = "p5en.48xlarge";
  bench_.node.profile->efa_devices = bench_.node.known.machine.efa_devices = 5;
  const auto before = bench_.clock.steady();
  EXPECT_EQ(result().severity, Severity::kIsolate);
  EXPECT_EQ(bench_.clock.steady() - before, std::chrono::seconds(15));
  bench_.type_prefix = "ml.";
  EXPECT_EQ(result().severity, Severity::kIsolate);
  EXPECT_EQ(bench_.clock.steady() - before, std::chrono::seconds(30));
}

TEST_F(EfaEnumeration, WarnsOfDevicesThatTheRdmaSubsystemLacks) {
  bench_.host.remove("sys/class/infiniband/rdmap16s0");
  const CheckResult warned = result();
  EXPECT_EQ(warned.status, CheckStatus::kWarn);
  ASSERT_EQ(warned.findings.size(), 1U) << warned.details;
  EXPECT_EQ(warned.findings[0].code, "efa_rdma_missing");
  EXPECT_EQ(warned.findings[0].line, "3 of 4 EFA devices are RDMA devices");
}

TEST_F(EfaEnumeration, WarnsWithoutTheProvider) {
  install("tools/fi_info", "echo 'provider: tcp'");
  const CheckResult warned = result();
  ASSERT_EQ(warned.findings.size(), 1U) << warned.details;
  EXPECT_EQ(warned.findings[0].code, "efa_provider_missing");
}

TEST_F(EfaEnumeration, WarnsOfMissingModulesNamingThem) {
  bench_.host.remove("sys/module/ib_uverbs").write("dev/gdrcopy/README", "");
  const CheckResult warned = result();
  EXPECT_EQ(warned.status, CheckStatus::kWarn);
  ASSERT_EQ(warned.findings.size(), 1U);
  EXPECT_EQ(warned.findings[0].code, "efa_module_missing");
  EXPECT_EQ(warned.findings[0].line, "ib_uverbs; gdrdrv");
}

TEST_F(EfaEnumeration, NeedsEfaIbUverbsAndIbCore) {
  for (const std::string name : {"efa", "ib_uverbs", "ib_core"}) {
    bench_.host.remove("sys/module/" + name);
    const CheckResult warned = result();
    ASSERT_EQ(warned.findings.size(), 1U) << warned.details;
    EXPECT_EQ(warned.findings[0].line, name);
    bench_.host.with_module(name);
  }
  EXPECT_TRUE(result().findings.empty());
}

TEST_F(EfaEnumeration, WarnsOfDevicesWithoutTheirFile) {
  bench_.host.remove("dev/infiniband/uverbs0");
  const CheckResult warned = result();
  ASSERT_EQ(warned.findings.size(), 1U) << warned.details;
  EXPECT_EQ(warned.findings[0].code, "efa_uverbs_missing");
}

TEST_F(EfaEnumeration, WarnsWhenTheRuntimeLetsWorkloadsLockLittleMemory) {
  bench_.host.with_memory_lock(300, "67108864");
  const CheckResult warned = result();
  ASSERT_EQ(warned.findings.size(), 1U);
  EXPECT_EQ(warned.findings[0].code, "memlock_low");
  EXPECT_THAT(warned.findings[0].line, HasSubstr("containerd"));
  bench_.host.with_memory_lock(300, "17179869183");
  EXPECT_EQ(result().findings.size(), 1U);
  bench_.host.with_memory_lock(300, "17179869184");
  EXPECT_TRUE(result().findings.empty()) << "16 GiB";
}

// The replaced suite: without EFA fi_info exits with 61. With set -e the suite ended there.
TEST_F(EfaEnumeration, FiInfoThatFailsIsAFindingNotAnEnd) {
  install("tools/fi_info", "echo 'fi_getinfo: -61 (No data available)' >&2; exit 61");
  const CheckResult warned = result();
  EXPECT_EQ(warned.status, CheckStatus::kWarn);
  ASSERT_EQ(warned.findings.size(), 1U);
  EXPECT_EQ(warned.findings[0].code, "efa_provider_missing");
  EXPECT_THAT(warned.findings[0].line, HasSubstr("No data available"));
}

TEST_F(EfaEnumeration, RunsGdrCopysOwnTestIfItIsAndNobodyUsesTheGpus) {
  bench_.host.with_module("gdrdrv");
  install("gdrcopy/bin/sanity", "exit 3");
  EXPECT_EQ(result().findings.at(0).code, "gdrcopy_failed");
  bench_.node.gpu(0).processes->push_back({4711, 1});
  EXPECT_EQ(result().status, CheckStatus::kPass);
}

TEST_F(EfaEnumeration, SkipsIfNoneIsAndNoneIsExpected) {
  CheckBench bare(efa_enumeration_entry());
  bare.node.profile->efa_devices = bare.node.known.machine.efa_devices = 0;
  EXPECT_EQ(bare.run().kind, CheckOutcome::Kind::kSkipped);
}

// EKS attaches EFA devices only to node groups that request them.
TEST_F(EfaEnumeration, AMachineThatWasLaunchedWithoutAnyIsHealthy) {
  CheckBench bare(efa_enumeration_entry());
  for (const char* type : {"p4d.24xlarge", "p5.48xlarge", "p6-b200.48xlarge", "g6.48xlarge"}) {
    bare.node.profile = bare.node.settings.profiles.find(type);
    ASSERT_GT(bare.node.profile.value().efa_devices, 0U);
    bare.node.known.machine.efa_devices = 0;
    const CheckOutcome outcome = bare.run();
    EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kDone) << "a skip would keep an older finding";
    EXPECT_EQ(codes_of(outcome), "");
    EXPECT_EQ(outcome.details,
              "this machine has no EFA device, and gpuward has seen none on it before");
  }
  bare.node.settings.is_seed_profile = true;
  EXPECT_EQ(severity_of(bare.run(), "efa_count"), Severity::kIsolate) << "as the replaced suite";
}

TEST_F(EfaEnumeration, AllMissingIsAFailureNotASkip) {
  CheckBench bare(efa_enumeration_entry());
  EXPECT_EQ(severity_of(bare.run(), "efa_count"), Severity::kIsolate);
}

TEST_F(EfaEnumeration, WithoutAProfileItSaysThatNobodyCounts) {
  bench_.node.forget_machine();
  EXPECT_THAT(result().details, HasSubstr("the expected number is unknown"));
}

TEST_F(EfaEnumeration, APciBusThatCannotBeReadIsAnError) {
  bench_.host.remove("sys/bus/pci");
  EXPECT_EQ(result().status, CheckStatus::kError);
}

}  // namespace
}  // namespace gpuward::exporter
