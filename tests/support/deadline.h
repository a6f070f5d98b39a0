// The deadline of all tests. Used by all waits in tests/support, and by every test that waits for
// an event whose time is not its subject.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace gpuward::support {

// How long a test waits before it fails. A busy machine and a sanitizer take many times as long as
// an idle machine, and a test that passes never waits this long. A test sets its own limit only if
// the time is what it tests.
inline constexpr std::chrono::seconds kGenerous{240};

// The time-out of a single request. Several of them fit into kGenerous.
inline constexpr std::chrono::seconds kGenerousRequest{60};

// How long Kubernetes waits for a gpuward pod to end by itself: the shortest
// terminationGracePeriodSeconds of the services. A test compares the chart with it
// (tests/manifests).
inline constexpr std::chrono::seconds kGracePeriod{15};
// The same on a busy machine. A program that takes longer hangs.
inline constexpr std::chrono::seconds kTimeToStop = 4 * kGracePeriod;

// The total time of failed waits of one program. If a part is broken, every wait for it fails, and
// the program must still end and report before ctest ends it after 20 minutes.
class WaitBudget {
 public:
  // The limit of a wait that asks for `limit`. A limit below kGenerousRequest is the subject of its
  // test, and stays.
  [[nodiscard]] std::chrono::milliseconds limit_of(std::chrono::milliseconds limit) const {
    const std::chrono::milliseconds failed(failed_ms_);
    if (limit < kGenerousRequest || failed < kUnshortened) return limit;
    return std::clamp<std::chrono::milliseconds>(kAll - failed, kShortest, kShort);
  }
  void add_failed(std::chrono::milliseconds limit, std::chrono::milliseconds lasted) {
    if (limit >= kGenerousRequest) failed_ms_ += lasted.count();
  }

 private:
  // The first wait is whole, the next ones are short, and the last ones nearly zero.
  static constexpr std::chrono::milliseconds kUnshortened = kGenerous;
  static constexpr std::chrono::minutes kAll{10};
  static constexpr std::chrono::seconds kShort{20}, kShortest{1};
  std::atomic<std::chrono::milliseconds::rep> failed_ms_ = 0;
};

[[nodiscard]] inline WaitBudget& wait_budget_of_this_program() {
  static WaitBudget budget;
  return budget;
}

// The end of one wait. It comes earlier after failed waits of the same program.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit,
                    WaitBudget& budget = wait_budget_of_this_program())
      : wanted_(limit), limit_(budget.limit_of(limit)), budget_(budget) {}

  [[nodiscard]] std::chrono::milliseconds limit() const { return limit_; }
  // Zero once it has passed.
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(limit_ - lasted()));
  }
  [[nodiscard]] bool has_passed() const { return left().count() == 0; }
  // The caller reports here that its wait has failed.
  void fail() const {
    budget_.add_failed(wanted_, std::chrono::ceil<std::chrono::milliseconds>(lasted()));
  }

 private:
  [[nodiscard]] std::chrono::steady_clock::duration lasted() const {
    return std::chrono::steady_clock::now() - start_;
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds wanted_, limit_;
  WaitBudget& budget_;
};

}  // namespace gpuward::support
