#include "exporter/checks/gpu_judge.h"

#include <gtest/gtest.h>

#include "exporter/store/store.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

// A store, and a judge that is asked after each reading.
class JudgedNode {
 public:
  JudgedNode() : store_({}) { store_.enter_boot("boot-2", node.now); }

  CheckResult look_after(std::chrono::seconds time) {
    node.now += time;
    Snapshot snapshot = node.make_snapshot();
    snapshot.state = store_.state();
    CheckResult result = judge_.judge(snapshot, node.settings, node.profile, node.facts, node.now);
    store_.apply_check(result, false);
    return result;
  }
  void reboot(const std::string& boot_id) {
    store_.enter_boot(boot_id, node.now);
    judge_ = {};
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
  GpuJudge judge_;
};

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(GpuJudge, GivesAResultThatTheStoreTakesAsCheckGpu) {
  JudgedNode judged;
  judged.node.gpu(1).rows.pending = true;
  const CheckResult result = judged.look_after(seconds(15));
  EXPECT_EQ(result.check, "gpu");
  EXPECT_EQ(result.status, CheckStatus::kFail);
  EXPECT_TRUE(judged.has("row_remap_pending", 1));
}

// LESSONS 4: condition sticks after recovery (EKS #266).
TEST(ConditionSticksAfterRecovery, NotHereWhatTheDriverNoLongerSaysIsGone) {
  JudgedNode judged;
  judged.node.gpu(1).rows.pending = true;
  ASSERT_EQ(judged.look_after(seconds(15)).status, CheckStatus::kFail);
  judged.node.gpu(1).rows.pending = false;
  EXPECT_EQ(judged.look_after(seconds(15)).status, CheckStatus::kPass);
  EXPECT_FALSE(judged.has("row_remap_pending", 1));
}

TEST(GpuJudge, AHangNeverTakesAFailureAway) {
  JudgedNode judged;
  judged.node.gpu(1).rows.pending = true;
  ASSERT_EQ(judged.look_after(seconds(15)).status, CheckStatus::kFail);
  judged.node.state = WorkerState::kHung;
  judged.node.gpu(1).rows.pending = false;
  EXPECT_EQ(judged.look_after(seconds(15)).status, CheckStatus::kFail);
  EXPECT_TRUE(judged.has("row_remap_pending", 1));
}

TEST(GpuJudge, AGpuStillMissingAfterARebootIsIsolatedOnceTheNodeHasSettled) {
  JudgedNode judged;
  judged.node.take_out_of_driver(7);
  judged.node.take_off_bus(7);
  EXPECT_EQ(judged.look_after(seconds(15)).severity, Severity::kReboot);

  judged.reboot("boot-3");
  judged.node.facts.since_boot = minutes(1);
  judged.node.facts.since_driver_load = minutes(1);
  EXPECT_EQ(judged.look_after(minutes(5)).severity, Severity::kMonitor);
  judged.node.facts.since_boot = judged.node.facts.since_driver_load = minutes(20);
  EXPECT_EQ(judged.look_after(minutes(19)).severity, Severity::kIsolate);
}

TEST(GpuJudge, ARebootThatHelpedIsTheEndOfIt) {
  JudgedNode judged;
  judged.node.on_bus(3).is_dead = true;
  judged.node.gpu(3).is_lost = true;
  EXPECT_EQ(judged.look_after(seconds(15)).severity, Severity::kReboot);
  judged.reboot("boot-3");
  judged.node.on_bus(3).is_dead = false;
  judged.node.gpu(3).is_lost = false;
  EXPECT_EQ(judged.look_after(minutes(5)).status, CheckStatus::kPass);
  judged.node.gpu(3).is_lost = true;
  judged.node.on_bus(3).is_dead = true;
  EXPECT_EQ(judged.look_after(hours(1)).severity, Severity::kReboot);
}

TEST(GpuJudge, AConfirmedLossReplacesTheUnconfirmedOneAtOnce) {
  JudgedNode judged;
  judged.node.gpu(3).is_lost = true;
  static_cast<void>(judged.look_after(seconds(15)));
  ASSERT_TRUE(judged.has("gpu_lost_unconfirmed", 3));
  judged.node.on_bus(3).is_dead = true;
  static_cast<void>(judged.look_after(seconds(15)));
  EXPECT_TRUE(judged.has("gpu_lost", 3));
  EXPECT_FALSE(judged.has("gpu_lost_unconfirmed", 3));
}

TEST(GpuJudge, AConfirmedLossStaysAloneWhenTheSecondSourceFallsSilent) {
  JudgedNode judged;
  judged.node.gpu(3).is_lost = true;
  judged.node.on_bus(3).is_dead = true;
  static_cast<void>(judged.look_after(seconds(15)));
  judged.node.on_bus(3).is_dead = false;
  EXPECT_EQ(judged.look_after(seconds(15)).severity, Severity::kReboot);
  EXPECT_TRUE(judged.has("gpu_lost", 3));
  EXPECT_FALSE(judged.has("gpu_lost_unconfirmed", 3));
}

TEST(GpuJudge, AConfirmedHangReplacesTheUnconfirmedOneAtOnce) {
  JudgedNode judged;
  judged.node.state = WorkerState::kHung;
  static_cast<void>(judged.look_after(seconds(15)));
  ASSERT_TRUE(judged.has_on_node("driver_hung_unconfirmed"));
  judged.node.on_bus(3).is_dead = true;
  static_cast<void>(judged.look_after(seconds(15)));
  EXPECT_TRUE(judged.has_on_node("driver_hung"));
  EXPECT_FALSE(judged.has_on_node("driver_hung_unconfirmed"));
}

TEST(GpuJudge, HeatThatComesAndGoesDoesNotFlicker) {
  JudgedNode judged;
  judged.node.gpu(0).slowdown.reasons = 0x40;
  EXPECT_EQ(judged.look_after(seconds(15)).status, CheckStatus::kWarn);
  judged.node.gpu(0).slowdown.reasons = 0;
  EXPECT_EQ(judged.look_after(minutes(9)).status, CheckStatus::kWarn);
  EXPECT_TRUE(judged.has("thermal_slowdown", 0));
  EXPECT_EQ(judged.look_after(minutes(1)).status, CheckStatus::kPass);
  EXPECT_FALSE(judged.has("thermal_slowdown", 0));
}

TEST(GpuJudge, PcieReplaysCountByTheirRateNotByTheirLife) {
  JudgedNode judged;
  judged.node.gpu(0).pcie.replays = 100'000;
  EXPECT_EQ(judged.look_after(minutes(1)).status, CheckStatus::kPass);
  *judged.node.gpu(0).pcie.replays += 8;
  EXPECT_EQ(judged.look_after(minutes(1)).status, CheckStatus::kPass);
  *judged.node.gpu(0).pcie.replays += 100;
  EXPECT_EQ(judged.look_after(minutes(1)).status, CheckStatus::kWarn);
  EXPECT_TRUE(judged.has("pcie_replays", 0));
}

TEST(GpuJudge, ACounterThatFellSaysNothingUntilItHasGrownAgain) {
  JudgedNode judged;
  judged.node.gpu(0).pcie.replays = 100'000;
  static_cast<void>(judged.look_after(minutes(1)));
  judged.node.gpu(0).pcie.replays = 5;
  EXPECT_EQ(judged.look_after(minutes(1)).status, CheckStatus::kPass);
}

}  // namespace
}  // namespace gpuward::exporter
