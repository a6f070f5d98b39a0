#include "exporter/publish/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metrics/process.h"
#include "core/metrics/text_format.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Gpu gpu(int index, const std::string& pci) {
  Gpu one;
  one.index = index;
  one.uuid = "GPU-" + std::to_string(index);
  one.pci = *parse_pci_address(pci);
  one.name = "NVIDIA H200";
  one.serial = "165";
  return one;
}

class FamiliesTest : public testing::Test {
 protected:
  void observe(const Observation& observation) { ledger.observe(observation); }
  std::string text() {
    Snapshot snapshot;
    snapshot.state = ledger.state();
    snapshot.gpus = gpus;
    snapshot.health = health;
    return metrics::to_text(exporter_families(snapshot, catalogue));
  }

  static State state_of_a_boot() {
    State state;
    state.boot_id = "a-boot";
    return state;
  }
  // A check's result in the running boot, with one finding.
  static CheckResult measured(Severity severity, ClearedBy cleared_by, int at) {
    Finding finding;
    finding.code = "bad";
    finding.severity = severity;
    finding.cleared_by = cleared_by;
    finding.evidence = Evidence::kMeasured;
    CheckResult result;
    result.check = "0-nvidia-smi";
    result.status = CheckStatus::kFail;
    result.started = WallTime(std::chrono::seconds(at));
    result.findings = {finding};
    return result;
  }

  LatchedState ledger{state_of_a_boot()};
  std::vector<Gpu> gpus{gpu(0, "0000:4e:00.0"), gpu(1, "0000:5e:00.0")};
  Health health;
  xid::Catalogue catalogue;
};

// LESSONS 4: "increase() misses first sample".
TEST_F(FamiliesTest, IncreaseMissesFirstSampleSoActionableXidsAreAtZeroForEveryGpu) {
  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_xid_errors_total{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:"
                             "4e:00\",xid=\"79\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_xid_errors_total{gpu=\"1\",uuid=\"GPU-1\",pci_bus_id=\"0000:"
                             "5e:00\",xid=\"48\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("xid=\"154\"} 0\n")) << "the driver's verdict can be any severity";
  EXPECT_THAT(out, Not(HasSubstr("pci_bus_id=\"0000:4e:00\",xid=\"13\"")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_xid_last_timestamp_seconds{"))) << "absent until seen";
}

TEST_F(FamiliesTest, CountAnXidUnderItsGpuWithItsTime) {
  observe(observe_xid({.code = 79, .second = 3}));

  const std::string out = text();

  constexpr const char* kLabels = "{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:00\",xid=\"79\"}";
  EXPECT_THAT(out, HasSubstr(std::string("gpuward_xid_errors_total") + kLabels + " 1\n"));
  EXPECT_THAT(out, HasSubstr(std::string("gpuward_xid_last_timestamp_seconds") + kLabels +
                             " 1795000003\n"));
}

TEST_F(FamiliesTest, CountAnXidOfAnUnknownAddressWithoutIndex) {
  observe(observe_xid({.code = 13, .pci = "0000:aa:00", .severity = Severity::kMonitor}));
  (void)ledger.learn_uuid({*parse_pci_address("aa:00"), "GPU-said-by-the-log"});

  EXPECT_THAT(text(), HasSubstr("gpuward_xid_errors_total{gpu=\"\",uuid=\"GPU-said-by-the-log\","
                                "pci_bus_id=\"0000:aa:00\",xid=\"13\"} 1\n"));
}

TEST_F(FamiliesTest, SayTheSeverityOfEveryGpuAndOfTheNode) {
  observe(observe_xid({.code = 79, .severity = Severity::kReboot}));
  observe(observe_xid({.code = 13, .severity = Severity::kMonitor}));
  EXPECT_THAT(text(), HasSubstr("gpuward_node_confirmed_severity 0\n")) << "lines alone";
  Observation event = observe_xid({.code = 79, .severity = Severity::kReboot});
  event.is_driver_event = true;
  observe(event);

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_finding_witness_info{check=\"xid\",code=\"79\","
                             "pci_bus_id=\"0000:4e:00\",gpu=\"0\",severity=\"reboot\","
                             "witness=\"driver event\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:"
                             "00\",namespace=\"\",pod=\"\"} 3\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_severity{gpu=\"1\",uuid=\"GPU-1\",pci_bus_id=\"0000:5e:"
                             "00\",namespace=\"\",pod=\"\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity 3\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_confirmed_severity 3\n"));
}

// A latched Xid says nothing about the node's state now.
TEST_F(FamiliesTest, TellWhatWasMeasuredFromWhatIsLatched) {
  observe(observe_xid({.code = 79}));

  EXPECT_THAT(text(), HasSubstr("gpuward_node_severity_observed_timestamp_seconds{severity="
                                "\"reboot\"} 0\n"));

  ledger.apply_check(measured(Severity::kReboot, ClearedBy::kCheck, 1'700'000'000), false);

  const std::string out = text();
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity_observed_timestamp_seconds{severity="
                             "\"reset\"} 1700000000\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity_observed_timestamp_seconds{severity="
                             "\"reboot\"} 1700000000\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity_observed_timestamp_seconds{severity="
                             "\"isolate\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_diagnostics_severity 0\n"));
}

TEST_F(FamiliesTest, TellWhatDiagnosticsFoundInThisBootOnly) {
  ledger.apply_check(measured(Severity::kIsolate, ClearedBy::kDiagnostics, 1'700'000'000), true);
  EXPECT_THAT(text(), HasSubstr("gpuward_node_diagnostics_severity 4\n"));

  ledger.enter_boot("another-boot", WallTime(std::chrono::seconds(1'700'000'100)));

  const std::string out = text();
  EXPECT_THAT(out, HasSubstr("gpuward_node_diagnostics_severity 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity 4\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity_observed_timestamp_seconds{severity="
                             "\"isolate\"} 0\n"));
}

TEST_F(FamiliesTest, SayThatAFindingOfBeforeTheBootWasNotLookedAtYet) {
  ledger.enter_boot("a-boot", WallTime(std::chrono::seconds(1'700'000'000)));
  ledger.apply_check(measured(Severity::kReset, ClearedBy::kCheck, 1'700'000'000), false);
  EXPECT_THAT(text(), HasSubstr("gpuward_node_unsettled 0\n"));
  ledger.enter_boot("another-boot", WallTime(std::chrono::seconds(1'700'000'100)));
  EXPECT_THAT(text(), AllOf(HasSubstr("gpuward_node_severity 0\n"),
                            HasSubstr("gpuward_node_unsettled 1\n")));
}

TEST_F(FamiliesTest, SayThatAFindingCannotBeJudgedYet) {
  EXPECT_THAT(text(), HasSubstr("gpuward_node_unsettled 0\n"));
  auto young = measured(Severity::kMonitor, ClearedBy::kCheck, 1'700'000'000);
  young.findings.front().is_too_soon = true;
  ledger.apply_check(young, false);
  EXPECT_THAT(text(), HasSubstr("gpuward_node_unsettled 1\n"));

  ledger.apply_check(measured(Severity::kMonitor, ClearedBy::kCheck, 1'700'000'100), false);
  EXPECT_THAT(text(), HasSubstr("gpuward_node_unsettled 0\n"));
}

TEST_F(FamiliesTest, KeepWhatOnlyUserSpaceSaysOutOfTheKernelSeverity) {
  observe(observe_xid({.code = 79, .evidence = Evidence::kUserSpace}));

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_node_severity 3\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_confirmed_severity 0\n"));
  EXPECT_THAT(
      out,
      HasSubstr("gpuward_finding{check=\"xid\",code=\"79\",pci_bus_id=\"0000:4e:00\",gpu=\"0\","
                "severity=\"reboot\",evidence=\"user_space\",cleared_by=\"reboot\"} 1\n"));
}

TEST_F(FamiliesTest, GiveOneTimeForAFindingWithTwoKindsOfEvidence) {
  observe(observe_xid({.code = 48, .second = 1, .evidence = Evidence::kUserSpace}));
  observe(observe_xid({.code = 48, .second = 2}));

  const std::string out = text();

  constexpr const char* kLabels = "{check=\"xid\",code=\"48\",pci_bus_id=\"0000:4e:00\",gpu=\"0\"}";
  EXPECT_THAT(out, HasSubstr(std::string("gpuward_finding_first_seen_timestamp_seconds") + kLabels +
                             " 1795000001\n"));
  EXPECT_THAT(out, HasSubstr(std::string("gpuward_finding_last_seen_timestamp_seconds") + kLabels +
                             " 1795000002\n"));
}

TEST_F(FamiliesTest, HaveAPolicyLineForEveryCountedXidUnknownOnesIncluded) {
  observe(observe_xid({.code = 60000, .severity = Severity::kMonitor, .known = false}));

  const std::string out = text();

  EXPECT_THAT(
      out,
      HasSubstr(
          "gpuward_xid_policy_info{xid=\"79\",severity=\"reboot\",action=\"RESTART_BM\",source="));
  EXPECT_THAT(out, HasSubstr("gpuward_xid_policy_info{xid=\"60000\",severity=\"monitor\",action="
                             "\"\",source=\"unknown\"} 1\n"));
}

TEST_F(FamiliesTest, CountSwitchErrorsAndOtherKinds) {
  Observation sxid =
      observe_xid({.code = 12028, .pci = "0000:05:00.0", .severity = Severity::kMonitor});
  sxid.event.kind = xid::Kind::kSxid;
  sxid.event.switch_name = "nvidia-nvswitch3";
  observe(sxid);
  Observation edac = observe_xid({.code = 0, .severity = Severity::kMonitor});
  edac.event.kind = xid::Kind::kEdac;
  edac.event.label = "CE";
  edac.event.pci.reset();
  observe(edac);

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_sxid_errors_total{switch=\"nvidia-nvswitch3\",pci_bus_id="
                             "\"0000:05:00\",sxid=\"12028\"} 1\n"));
  EXPECT_THAT(
      out,
      HasSubstr("gpuward_kernel_events_total{kind=\"edac\",label=\"CE\",pci_bus_id=\"\"} 1\n"));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_severity{gpu=\"\"")));
}

TEST_F(FamiliesTest, SayThatASourceIsDownWithoutBlamingTheNode) {
  health.kernel_log_fault = "no";
  health.inventory_fault = "no";

  const std::string out = text();

  EXPECT_THAT(out, HasSubstr("gpuward_kernel_log_up 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_inventory_up 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_node_severity 0\n"));
}

TEST_F(FamiliesTest, DescribeTheGpus) {
  EXPECT_THAT(
      text(),
      HasSubstr("gpuward_gpu_info{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:"
                "00\",name=\"NVIDIA "
                "H200\",serial=\"165\",vendor=\"nvidia\",vbios_version=\"\",part_number=\"\","
                "compute_partition=\"\",memory_partition=\"\"} 1\n"));
}

TEST_F(FamiliesTest, AreMoreThanSixHundredSeriesForEightGpusWithAHistory) {
  for (int i = 2; i < 8; ++i) gpus.push_back(gpu(i, "0000:a" + std::to_string(i) + ":00.0"));
  for (const std::uint32_t code : {13U, 31U, 43U, 45U, 63U, 68U, 92U, 94U}) {
    for (const Gpu& one : gpus) {
      observe(observe_xid({.code = code, .pci = one.pci.full(), .severity = Severity::kMonitor}));
    }
  }

  const std::string out = text();

  std::size_t series = 0;
  for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1) series += out[at] != '#';
  EXPECT_GE(series, 600U);
}

std::map<std::string, double> counters_of(const Families& families) {
  std::map<std::string, double> values;
  for (const metrics::Family& family : families) {
    if (family.declared.type != metrics::Type::kCounter) continue;
    for (const metrics::Sample& sample : family.samples) {
      std::string series = family.name;
      for (const std::string& value : sample.labels) series.append(",").append(value);
      values[series] = sample.value;
    }
  }
  return values;
}

// LESSONS 4: "windowed value typed counter" (DCGM_EXP_XID_ERRORS_COUNT falls when its window ends).
TEST_F(FamiliesTest, WindowedValueTypedCounter) {
  const auto counters = [&] {
    Snapshot snapshot;
    snapshot.state = ledger.state();
    snapshot.gpus = gpus;
    return counters_of(exporter_families(snapshot, catalogue));
  };
  ledger.enter_boot("b1", at_second(0));
  observe(observe_xid({.code = 79, .second = 1}));
  observe(observe_xid({.code = 13, .severity = Severity::kMonitor, .cleared_by = ClearedBy::kAge}));
  const auto before = counters();

  ledger.expire(at_second(86'400), std::chrono::hours(1));
  (void)ledger.clear({.check = "xid", .code = "79", .pci_bus_id = "0000:4e:00"}, at_second(86'401));
  ledger.enter_boot("b2", at_second(90'000));

  const auto after = counters();
  EXPECT_EQ(before.at("gpuward_xid_errors_total,0,GPU-0,0000:4e:00,79"), 1);
  for (const auto& [series, value] : before) {
    ASSERT_TRUE(after.contains(series)) << series;
    EXPECT_GE(after.at(series), value) << series;
  }
}

TEST_F(FamiliesTest, AreCleanForPromtool) {
  GPUWARD_REQUIRE(support::why_no_program("promtool"));
  observe(observe_xid({.code = 79}));

  const auto outcome =
      support::Process::run({.argv = {"promtool", "check", "metrics"}, .input = text()});

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

}  // namespace
}  // namespace gpuward::exporter
