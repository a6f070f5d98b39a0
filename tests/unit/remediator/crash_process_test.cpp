// kill -9 at every step: the program dies at each of its writes in turn, right before the API
// server applies the write or right after, before it answers. The next process finishes the work
// and restarts the machine once.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/deadline.h"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using fakes::FaultKind;

// A run spends most of its time waiting.
constexpr std::size_t kRunsAtOnce = 8;
// Renewals of the lease and Events come at any time: they are not part of the work.
constexpr const char* kWrites = "POST|PUT|PATCH|DELETE";
constexpr const char* kPathsOfWork = "(?!.*/(leases|events)).*";

constexpr const char* kCrashPlan =
    "[taint, cordon, drain, reboot: {timeout: 120s}, verify: {soak: 0s}, return-to-service]";

struct CrashRun {
  std::size_t deaths = 0, cuts = 0;  // of the process, and of its writes
  std::string died_at;               // method and path of the write
  bool is_reboot_unknown = false;  // it died between the intent to restart the machine and the call
  std::string phase, message, wrong;
  std::size_t calls = 0;
};

struct CrashPlan {
  FaultKind kind = FaultKind::kDropAfter;
  bool was_cordoned = false;  // by an operator, before
  bool dies = true;           // otherwise only the connection is cut
};

bool is_reboot_unknown(RemediationStage& stage) {
  return stage.calls().empty() && string_at(stage.step("reboot"), "result") == "intended";
}

// The restart may or may not have been requested. gpuward waits as long as it may still come, and
// does not request it again in that time. The node stays as it is.
bool is_restart_awaited(RemediationStage& stage) {
  return stage.phase() == "Rebooting" && stage.calls().empty() &&
         stage.message().contains("restart requested, response unknown");
}

// Returns the first fault of the final state, or "".
std::string faults_of(RemediationStage& stage, const CrashRun& run, const CrashPlan& plan) {
  if (stage.is_cordoned() != (plan.was_cordoned || run.is_reboot_unknown))
    return "the cordon is not as it should be";
  if (stage.is_tainted() != run.is_reboot_unknown) return "the taint is not as it should be";
  if (const std::string lost = stage.lost_foreign_state(); !lost.empty()) return "lost: " + lost;
  if (!stage.pods_at_first_call().empty()) return "the machine was restarted under pods";
  if (!stage.pods().empty()) return "pods are left";
  if (run.calls != (run.is_reboot_unknown ? 0 : 1))
    return "the machine's program was called " + std::to_string(run.calls) + " times";
  return {};
}

// Plays to the end, and starts a new process whenever one has died.
CrashRun play_to_the_end(FakeHands& hands, RemediationStage& stage, const CrashPlan& plan,
                         std::chrono::seconds limit) {
  CrashRun run;
  const auto is_over = [&] {
    if (!stage.runs()) {
      ++run.deaths;
      run.is_reboot_unknown = is_reboot_unknown(stage);
      stage.start_anew();
    }
    run.phase = stage.phase();
    if (run.phase == "Held" || is_restart_awaited(stage)) return true;
    // A process that did not die may not know that the Remediation is closed. It returns the slot a
    // minute later.
    return run.phase == "Released" && (!plan.dies || stage.slots_held() == 0);
  };
  const bool is_finished = stage.play_until(is_over, limit);
  for (const auto& request : hands.kube().requests()) {
    if (request.status == 0 && request.method != "GET" && run.died_at.empty())
      run.died_at = request.method + " " + request.path;
  }
  run.calls = stage.calls().size();
  const bool is_left = run.phase == "Held" || run.phase == "Rebooting";
  if (!plan.dies) run.is_reboot_unknown = is_left && run.calls == 0;
  run.message = stage.message();
  run.wrong = is_finished ? faults_of(stage, run, plan) : "not finished: " + stage.log();
  if (run.wrong.empty() && is_left != run.is_reboot_unknown)
    run.wrong = "it should not have ended so";
  return run;
}

// Dies at the write that follows `before` others.
CrashRun run_with_crash(std::size_t before, const CrashPlan& plan) {
  FakeHands hands;
  RemediationStage stage(hands, {.plan = kCrashPlan});
  if (plan.was_cordoned) hands.patch(kStageNodePath, {{"spec", {{"unschedulable", true}}}});
  const auto kill_it = [&] {
    if (plan.dies) ::kill(stage.pid(), SIGKILL);
  };
  const std::size_t fault = hands.kube().add_fault({.kind = plan.kind,
                                                    .method = kWrites,
                                                    .path = kPathsOfWork,
                                                    .skip = static_cast<int>(before),
                                                    .on_hit = kill_it});
  stage.start();
  CrashRun run = play_to_the_end(hands, stage, plan, support::kGenerous);
  run.cuts = hands.kube().fault_hits(fault);
  return run;
}

// Makes one run for each write, until a run ends without a death.
std::vector<CrashRun> run_with_every_crash(const CrashPlan& plan) {
  std::vector<CrashRun> runs;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> is_enough = false;
  const auto work = [&] {
    while (!is_enough) {
      const std::size_t before = next++;
      CrashRun run;
      try {
        run = run_with_crash(before, plan);
      } catch (const std::exception& error) {
        run.cuts = 1;
        run.wrong = error.what();
      }
      const std::lock_guard lock(mutex);
      if (run.cuts == 0) is_enough = true;
      if (runs.size() <= before) runs.resize(before + 1);
      runs[before] = std::move(run);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kRunsAtOnce; ++i) threads.emplace_back(work);
  threads.clear();
  return runs;
}

void expect_well_ended(const std::vector<CrashRun>& runs) {
  std::size_t cuts = 0;
  for (std::size_t before = 0; before < runs.size(); ++before) {
    const CrashRun& run = runs[before];
    EXPECT_EQ(run.wrong, "") << "death at write " << before + 1 << ", " << run.died_at << "; phase "
                             << run.phase << ": " << run.message;
    // gpuward may or may not have made a call that it intended, so it does not repeat the call.
    // This only happens at the write of the intent.
    if (run.is_reboot_unknown) {
      EXPECT_TRUE(run.died_at.ends_with("/status")) << run.died_at;
    }
    cuts += run.cuts;
  }
  // Taint and cordon, drain, reboot, verify, return: each writes its intent and its result.
  EXPECT_GE(cuts, 15U);
}

TEST(RemediatorCrash, LeavesAllToTheNextProcessIfItDiesAfterAWrite) {
  expect_well_ended(run_with_every_crash({.kind = FaultKind::kDropAfter}));
}

TEST(RemediatorCrash, LeavesAllToTheNextProcessIfItDiesBeforeAWrite) {
  expect_well_ended(run_with_every_crash({.kind = FaultKind::kDropBefore}));
}

TEST(RemediatorCrash, KeepsTheCordonOfAHumanWhereverItDies) {
  expect_well_ended(run_with_every_crash({.kind = FaultKind::kDropAfter, .was_cordoned = true}));
}

// The process lives on, and does not know whether the API server applied its write.
TEST(RemediatorCrash, FinishesIfTheAnswerToAWriteIsLost) {
  expect_well_ended(run_with_every_crash({.kind = FaultKind::kDropAfter, .dies = false}));
}

TEST(RemediatorCrash, RestartsTheMachineOnceIfItDiesWhileItsProgramRuns) {
  FakeHands hands;
  RemediationStage stage(
      hands, {.plan = kCrashPlan, .machine = "exec sleep 20", .machine_restarts = false});
  stage.start();
  ASSERT_TRUE(stage.play_until([&] { return !stage.calls().empty(); })) << stage.log();

  stage.kill_process();
  stage.start_anew();
  stage.let_machine_restart(true);

  ASSERT_TRUE(stage.play_until([&] { return stage.phase() == "Released"; })) << stage.message();
  EXPECT_EQ(stage.calls().size(), 1U);
}

// The hardest case: no process lives to make a second write. The exception is the call that gpuward
// must not repeat.
TEST(RemediatorCrash, MakesItsWayThoughNoProcessLivesForASecondWrite) {
  FakeHands hands;
  RemediationStage stage(hands, {.plan = kCrashPlan});
  hands.kube().add_fault({.kind = FaultKind::kDelay,
                          .method = kWrites,
                          .path = kPathsOfWork,
                          .times = -1,
                          .on_hit = [&] {
                            if (!is_reboot_unknown(stage)) ::kill(stage.pid(), SIGKILL);
                          }});
  stage.start();

  const CrashRun run = play_to_the_end(hands, stage, {}, 2 * support::kGenerous);

  EXPECT_EQ(run.wrong, "") << run.phase << ": " << run.message;
  EXPECT_EQ(run.phase, "Released");
  EXPECT_GE(run.deaths, 15U);
}

}  // namespace
}  // namespace gpuward::remediator
