#include "exporter/checks/rules/witness.h"

#include <gtest/gtest.h>

#include <set>

#include "core/xid/catalogue.h"
#include "exporter/checks/rules/gpu_evaluator.h"
#include "exporter/store/store.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;

std::vector<Witnessed> witnessed(const Scenario& node) {
  const Snapshot snapshot = node.make_snapshot();
  const GpuRuleInput input{snapshot, node.settings, node.profile, node.facts, node.now, nullptr};
  return witnessed_findings(input, judge_gpus(input).findings);
}

std::string witness(const Scenario& node) {
  const auto found = witnessed(node);
  return found.empty() ? "" : found.front().by;
}

// A line alone, on a GPU whose readings show no fault.
Scenario node_with_line(const std::string& check, const std::string& code,
                        Severity severity = Severity::kReset) {
  Scenario node;
  node.kernel_has(check, code, Scenario::bus_id(1), severity);
  return node;
}

TEST(Witness, IsNoneOfAGpuThatIsReadWithoutAFault) {
  for (const auto& row : xid::xid_rows()) {
    EXPECT_EQ(witness(node_with_line("xid", std::to_string(row.code), Severity::kIsolate)), "")
        << row.code;
  }
  EXPECT_EQ(witness(node_with_line("sxid", "20034")), "");
}

TEST(Witness, IsACounterOfTheSameErrorOnTheSameGpu) {
  Scenario node = node_with_line("xid", "48");
  node.gpu(2).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "");
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "gpu ecc_uncorrected");
}

TEST(Witness, IsTheDriversOwnVerdict) {
  Scenario node = node_with_line("xid", "154", Severity::kReboot);
  node.gpu(1).recovery_action = 1;
  EXPECT_EQ(witness(node), "") << "a reset is less than the line asks for";
  node.gpu(1).recovery_action = 2;
  EXPECT_EQ(witness(node), "gpu recovery_action_reboot");
}

TEST(Witness, OfALostGpuIsTheDriverOrTheBus) {
  Scenario node = node_with_line("xid", "79", Severity::kReboot);
  node.gpu(1).is_lost = true;
  EXPECT_NE(witness(node), "");
  node = node_with_line("xid", "79", Severity::kReboot);
  node.take_off_bus(1);
  node.take_out_of_driver(1);
  EXPECT_NE(witness(node), "");
}

TEST(Witness, OfAGpuThatIsDeadOnTheBusNeedsNoDriver) {
  Scenario node = node_with_line("xid", "79", Severity::kReboot);
  node.report.vendors[0].state = LibraryState::kUnusable;
  node.report.vendors[0].gpus.clear();
  EXPECT_EQ(witness(node), "");
  node.on_bus(1).is_dead = true;
  EXPECT_EQ(witness(node), "PCI bus");
}

TEST(Witness, IsNoStateOfLittleWeightThatWasThereLongBefore) {
  Scenario node = node_with_line("xid", "74", Severity::kReboot);
  node.gpu(1).links.front().active = false;
  ASSERT_EQ(witness(node), "gpu nvlink_inactive");
  Finding before;
  before.check = "gpu";
  before.code = "nvlink_inactive";
  before.pci_bus_id = Scenario::bus_id(1);
  before.severity = Severity::kMonitor;
  before.evidence = Evidence::kMeasured;
  before.last_boot_id = node.known.boot_id;
  before.first_seen = node.now - std::chrono::hours(9);
  before.last_seen = node.now;
  node.known.findings[{"gpu", "nvlink_inactive", Scenario::bus_id(1), Evidence::kMeasured}] =
      before;
  EXPECT_EQ(witness(node), "");
}

TEST(Witness, OfALinkIsItsStateAndNotThatOfTheMemory) {
  Scenario node = node_with_line("xid", "74");
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "gpu ecc_uncorrected") << "as severe by itself: the GPU is reset anyway";
  node = node_with_line("xid", "74", Severity::kReboot);
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "");
  node.gpu(1).links.front().active = false;
  EXPECT_EQ(witness(node), "gpu nvlink_inactive");
}

// With unified memory in use gpuward resets the GPU for it, so a milder reading is not enough.
TEST(Witness, OfXid159IsNoReadingBelowReset) {
  for (const Severity severity : {Severity::kMonitor, Severity::kReset}) {
    Scenario node = node_with_line("xid", "159", severity);
    node.gpu(1).links.front().active = false;
    node.gpu(1).persistence_mode = false;
    EXPECT_EQ(witness(node), "") << to_string(severity);
  }
}

TEST(Witness, OfXid159ThatAnOverrideRatesAsResetIsAReadingAsSevere) {
  Scenario node = node_with_line("xid", "159", Severity::kReset);
  node.gpu(2).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "");
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "gpu ecc_uncorrected");
}

TEST(Witness, OfASwitchIsALinkOfAnyGpu) {
  Scenario node;
  node.kernel_has("sxid", "20034", "0000:c2:00", Severity::kReset);
  node.gpu(5).links.front().active = false;
  EXPECT_EQ(witness(node), "gpu nvlink_inactive");
}

TEST(Witness, MayBeARecordThatTheKernelMarksWithTheGpu) {
  Scenario node = node_with_line("amd_hang", "ring_timeout");
  node.kernel_has("amd_reset", "begin", Scenario::bus_id(1), Severity::kMonitor,
                  Evidence::kUserSpace);
  EXPECT_EQ(witness(node), "");
  node.kernel_has("amd_reset", "begin", Scenario::bus_id(2), Severity::kMonitor);
  EXPECT_EQ(witness(node), "");
  node.kernel_has("amd_reset", "begin", Scenario::bus_id(1), Severity::kMonitor);
  EXPECT_EQ(witness(node), "amd_reset begin");
}

TEST(Witness, OfTheDriversWordsIsAReadingOfAnyGpu) {
  Scenario node;
  node.kernel_has("nvrm", "reset_required", "", Severity::kReset);
  EXPECT_EQ(witness(node), "");
  node.gpu(3).recovery_action = 1;
  EXPECT_EQ(witness(node), "gpu recovery_action_reset");
  Scenario lost;
  lost.kernel_has("nvrm", "gpu_lost", "", Severity::kReboot);
  lost.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(lost), "");
  lost.gpu(2).is_lost = true;
  EXPECT_NE(witness(lost), "");
}

TEST(Witness, IsNeverLookedForForARuleOfTheOperator) {
  Scenario node = node_with_line("kernel_rule", "ReadOnly", Severity::kReset);
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "");
}

TEST(Witness, IsNeverLookedForForALineOfUserSpace) {
  Scenario node;
  node.kernel_has("xid", "48", Scenario::bus_id(1), Severity::kReset, Evidence::kUserSpace);
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(witness(node), "");
}

// These codes have only the witnesses of every line: the driver's event, and a reading as severe.
TEST(WitnessTable, NamesEveryCodeThatTheDefaultsActOnButTheseThree) {
  std::set<std::uint32_t> without;
  for (const auto& line : xid::Catalogue().xid_policy()) {
    if (line.severity >= Severity::kReset &&
        find_witnesses("xid", std::to_string(line.code)) == nullptr)
      without.insert(line.code);
  }
  EXPECT_EQ(without, (std::set<std::uint32_t>{151, 168, 173}));
}

TEST(RecoveredGpu, IsOneThatWasReadSinceWithoutAFault) {
  Scenario node = amd_scenario_node();
  const std::string bus_id = node.gpu(0).gpu.pci.bus_id();
  node.kernel_has("amd_reset", "succeeded", bus_id, Severity::kMonitor);
  const auto recovered = [&](seconds read_after) {
    Snapshot snapshot = node.make_snapshot();
    snapshot.telemetry.read_at = snapshot.state.findings.begin()->second.last_seen + read_after;
    return recovered_gpus({snapshot, node.settings, node.profile, node.facts, node.now, nullptr});
  };
  EXPECT_TRUE(recovered(seconds(-1)).empty());
  ASSERT_EQ(recovered(seconds(1)).size(), 1U);
  EXPECT_EQ(recovered(seconds(1)).front().pci_bus_id, bus_id);
  node.gpu(0).fault = "no answer";
  EXPECT_TRUE(recovered(seconds(1)).empty());
}

TEST(RecoveredGpu, IsNoneByALineOfUserSpace) {
  Scenario node = amd_scenario_node();
  node.kernel_has("amd_reset", "succeeded", node.gpu(0).gpu.pci.bus_id(), Severity::kMonitor,
                  Evidence::kUserSpace);
  Snapshot snapshot = node.make_snapshot();
  snapshot.telemetry.read_at = node.now + seconds(60);
  EXPECT_TRUE(recovered_gpus({snapshot, node.settings, node.profile, node.facts, node.now, nullptr})
                  .empty());
}

// An AMD GPU with such counters, for which the kernel log reports uncorrected errors.
Scenario node_with_ras(const std::vector<RasBlock>& blocks) {
  Scenario node = amd_scenario_node();
  node.gpu(0).ras = blocks;
  node.settings.ras_thresholds["umc"] = 5;
  node.kernel_has("amd_ras", "UE", "0000:05:00", Severity::kReboot);
  return node;
}

std::size_t allowed_in(const Scenario& node, seconds read_after = seconds(1)) {
  Snapshot snapshot = node.make_snapshot();
  snapshot.telemetry.read_at = snapshot.state.findings.begin()->second.last_seen + read_after;
  return allowed_errors({snapshot, node.settings, node.profile, node.facts, node.now, nullptr})
      .size();
}

TEST(AllowedErrors, AreThoseThatAThresholdAllows) {
  Scenario node = node_with_ras({{"umc", 0, 5, 0}, {"gfx", 0, 0, 0}});
  EXPECT_EQ(allowed_in(node), 1U);
  EXPECT_EQ(allowed_in(node, seconds(-1)), 0U) << "read before the line";
  node.settings.ras_thresholds.clear();
  EXPECT_EQ(allowed_in(node), 0U) << "no threshold is set";
}

TEST(AllowedErrors, AreNoneOfAGpuWhoseCountersDoNotShowThemOrShowMore) {
  EXPECT_EQ(allowed_in(node_with_ras({{"umc", 0, 6, 0}})), 0U);
  EXPECT_EQ(allowed_in(node_with_ras({{"umc", 0, 1, 0}, {"gfx", 0, 1, 0}})), 0U);
  EXPECT_EQ(allowed_in(node_with_ras({{"umc", 0, 1, 0}, {"gfx", 0, std::nullopt, 0}})), 0U);
  EXPECT_EQ(allowed_in(node_with_ras({{"umc", 0, 0, 0}})), 0U) << "the line speaks of others";
  EXPECT_EQ(allowed_in(node_with_ras({})), 0U);
  Scenario lost = node_with_ras({{"umc", 0, 1, 0}});
  lost.gpu(0).is_lost = true;
  EXPECT_EQ(allowed_in(lost), 0U);
  Scenario hung = node_with_ras({{"umc", 0, 1, 0}});
  hung.state = WorkerState::kHung;
  EXPECT_EQ(allowed_in(hung), 0U);
}

// A line that was old when the exporter first read it.
Scenario node_with_history(const std::string& code, Severity severity) {
  Scenario node = node_with_line("xid", code, Severity::kNone);
  for (auto& [key, finding] : node.known.findings) finding.history = severity;
  return node;
}

TEST(Witness, OfHistoryIsAReadingThatIsSevereByItself) {
  Scenario node = node_with_history("74", Severity::kReset);
  EXPECT_EQ(witness(node), "");
  node.gpu(1).links.front().active = false;
  EXPECT_EQ(witness(node), "") << "monitor: it may have been so for long";
  node.gpu(1).recovery_action = 1;
  EXPECT_EQ(witness(node), "gpu recovery_action_reset");
  EXPECT_EQ(witnessed(node).front().severity, Severity::kReset);
  for (auto& [key, finding] : node.known.findings) finding.is_of_earlier_boot = true;
  EXPECT_EQ(witness(node), "") << "of an earlier boot";
}

TEST(Witness, OfHistoryIsTheSecondSourceOfWhatIsReadNow) {
  Scenario node = node_with_history("79", Severity::kReboot);
  node.known.findings.begin()->second.first_boot_id = node.known.boot_id;
  node.gpu(1).is_lost = true;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings.front().code, "gpu_lost");
}

}  // namespace
}  // namespace gpuward::exporter
