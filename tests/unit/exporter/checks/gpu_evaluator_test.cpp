#include "exporter/checks/rules/gpu_evaluator.h"

#include <gtest/gtest.h>

#include "exporter/store/store.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

// A store, and an evaluator that runs after each reading.
class EvaluatedNode {
 public:
  EvaluatedNode() : store_({}) { store_.enter_boot("boot-2", node.now); }

  CheckResult look_after(std::chrono::seconds time) {
    node.now += time;
    Snapshot snapshot = node.make_snapshot();
    snapshot.state = store_.state();
    snapshot.state.machine = node.known.machine;
    CheckResult result =
        evaluator_.evaluate(snapshot, node.settings, node.profile, node.facts, node.now);
    store_.apply_check(result, false);
    return result;
  }
  void reboot(const std::string& boot_id) {
    store_.enter_boot(boot_id, node.now);
    evaluator_ = {};
  }
  [[nodiscard]] bool has(const std::string& code, std::size_t gpu) const {
    return store_.state().findings.contains(
        {"gpu", code, Scenario::bus_id(gpu), Evidence::kMeasured});
  }
  [[nodiscard]] bool has_on_node(const std::string& code) const {
    return store_.state().findings.contains({"gpu", code, "", Evidence::kMeasured});
  }

  Scenario node;

 private:
  Store store_;
  GpuEvaluator evaluator_;
};

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(GpuEvaluator, GivesAResultThatTheStoreTakesAsCheckGpu) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(1).rows.pending = true;
  const CheckResult result = evaluated.look_after(seconds(15));
  EXPECT_EQ(result.check, "gpu");
  EXPECT_EQ(result.status, CheckStatus::kFail);
  EXPECT_TRUE(evaluated.has("row_remap_pending", 1));
}

// LESSONS 4: condition sticks after recovery (EKS #266).
TEST(ConditionSticksAfterRecovery, NotHereWhatTheDriverNoLongerSaysIsGone) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(1).rows.pending = true;
  ASSERT_EQ(evaluated.look_after(seconds(15)).status, CheckStatus::kFail);
  evaluated.node.gpu(1).rows.pending = false;
  EXPECT_EQ(evaluated.look_after(seconds(15)).status, CheckStatus::kPass);
  EXPECT_FALSE(evaluated.has("row_remap_pending", 1));
}

TEST(GpuEvaluator, AHangNeverTakesAFailureAway) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(1).rows.pending = true;
  ASSERT_EQ(evaluated.look_after(seconds(15)).status, CheckStatus::kFail);
  evaluated.node.state = WorkerState::kHung;
  evaluated.node.gpu(1).rows.pending = false;
  EXPECT_EQ(evaluated.look_after(seconds(15)).status, CheckStatus::kFail);
  EXPECT_TRUE(evaluated.has("row_remap_pending", 1));
}

TEST(GpuEvaluator, AGpuStillMissingAfterARebootIsIsolatedOnceTheNodeHasSettled) {
  EvaluatedNode evaluated;
  evaluated.node.take_out_of_driver(7);
  evaluated.node.take_off_bus(7);
  EXPECT_EQ(evaluated.look_after(seconds(15)).severity, Severity::kReboot);

  evaluated.reboot("boot-3");
  evaluated.node.facts.since_boot = minutes(1);
  evaluated.node.facts.since_driver_load = minutes(1);
  const auto young = evaluated.look_after(minutes(5));
  EXPECT_EQ(young.severity, Severity::kMonitor);
  EXPECT_TRUE(std::ranges::any_of(young.findings, &Finding::is_too_soon));
  evaluated.node.facts.since_boot = evaluated.node.facts.since_driver_load = minutes(20);
  const auto settled = evaluated.look_after(minutes(19));
  EXPECT_EQ(settled.severity, Severity::kIsolate);
  EXPECT_FALSE(std::ranges::any_of(settled.findings, &Finding::is_too_soon));
}

TEST(GpuEvaluator, ARebootThatHelpedIsTheEndOfIt) {
  EvaluatedNode evaluated;
  evaluated.node.on_bus(3).is_dead = true;
  evaluated.node.gpu(3).is_lost = true;
  EXPECT_EQ(evaluated.look_after(seconds(15)).severity, Severity::kReboot);
  evaluated.reboot("boot-3");
  evaluated.node.on_bus(3).is_dead = false;
  evaluated.node.gpu(3).is_lost = false;
  EXPECT_EQ(evaluated.look_after(minutes(5)).status, CheckStatus::kPass);
  evaluated.node.gpu(3).is_lost = true;
  evaluated.node.on_bus(3).is_dead = true;
  EXPECT_EQ(evaluated.look_after(hours(1)).severity, Severity::kReboot);
}

TEST(GpuEvaluator, AConfirmedLossReplacesTheUnconfirmedOneAtOnce) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(3).is_lost = true;
  static_cast<void>(evaluated.look_after(seconds(15)));
  ASSERT_TRUE(evaluated.has("gpu_lost_unconfirmed", 3));
  evaluated.node.on_bus(3).is_dead = true;
  static_cast<void>(evaluated.look_after(seconds(15)));
  EXPECT_TRUE(evaluated.has("gpu_lost", 3));
  EXPECT_FALSE(evaluated.has("gpu_lost_unconfirmed", 3));
}

TEST(GpuEvaluator, AConfirmedLossStaysAloneWhenTheSecondSourceFallsSilent) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(3).is_lost = true;
  evaluated.node.on_bus(3).is_dead = true;
  static_cast<void>(evaluated.look_after(seconds(15)));
  evaluated.node.on_bus(3).is_dead = false;
  EXPECT_EQ(evaluated.look_after(seconds(15)).severity, Severity::kReboot);
  EXPECT_TRUE(evaluated.has("gpu_lost", 3));
  EXPECT_FALSE(evaluated.has("gpu_lost_unconfirmed", 3));
}

TEST(GpuEvaluator, AConfirmedHangReplacesTheUnconfirmedOneAtOnce) {
  EvaluatedNode evaluated;
  evaluated.node.state = WorkerState::kHung;
  static_cast<void>(evaluated.look_after(seconds(15)));
  ASSERT_TRUE(evaluated.has_on_node("driver_hung_unconfirmed"));
  evaluated.node.on_bus(3).is_dead = true;
  static_cast<void>(evaluated.look_after(seconds(15)));
  EXPECT_TRUE(evaluated.has_on_node("driver_hung"));
  EXPECT_FALSE(evaluated.has_on_node("driver_hung_unconfirmed"));
}

TEST(GpuEvaluator, HeatThatComesAndGoesDoesNotFlicker) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(0).slowdown.reasons = 0x40;
  EXPECT_EQ(evaluated.look_after(seconds(15)).status, CheckStatus::kWarn);
  evaluated.node.gpu(0).slowdown.reasons = 0;
  EXPECT_EQ(evaluated.look_after(minutes(9)).status, CheckStatus::kWarn);
  EXPECT_TRUE(evaluated.has("thermal_slowdown", 0));
  EXPECT_EQ(evaluated.look_after(minutes(1)).status, CheckStatus::kPass);
  EXPECT_FALSE(evaluated.has("thermal_slowdown", 0));
}

TEST(GpuEvaluator, PcieReplaysCountByTheirRateNotByTheirLife) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(0).pcie.replays = 100'000;
  EXPECT_EQ(evaluated.look_after(minutes(1)).status, CheckStatus::kPass);
  *evaluated.node.gpu(0).pcie.replays += 8;
  EXPECT_EQ(evaluated.look_after(minutes(1)).status, CheckStatus::kPass);
  *evaluated.node.gpu(0).pcie.replays += 100;
  EXPECT_EQ(evaluated.look_after(minutes(1)).status, CheckStatus::kWarn);
  EXPECT_TRUE(evaluated.has("pcie_replays", 0));
}

TEST(GpuEvaluator, ACounterThatFellSaysNothingUntilItHasGrownAgain) {
  EvaluatedNode evaluated;
  evaluated.node.gpu(0).pcie.replays = 100'000;
  static_cast<void>(evaluated.look_after(minutes(1)));
  evaluated.node.gpu(0).pcie.replays = 5;
  EXPECT_EQ(evaluated.look_after(minutes(1)).status, CheckStatus::kPass);
}

}  // namespace
}  // namespace gpuward::exporter
