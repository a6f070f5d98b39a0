#include "remediator/tell/page/guard_watch.h"

namespace gpuward::remediator {
namespace {

// The time between two checks while approvals are not guarded, and once they are.
constexpr std::chrono::seconds kUntilGuarded{2};
constexpr std::chrono::seconds kOnceGuarded{60};

}  // namespace

GuardWatch::GuardWatch(GuardProbe& probe, const CurrentPolicy& policy, Clock& clock, Log& log)
    : probe_(probe), policy_(policy), clock_(clock), log_(log), begun_(clock.steady()) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void GuardWatch::run(const std::stop_token& stop) {
  do {
    if (!needs_approvals(*policy_.get())) continue;
    const auto last = probe_.last();
    const bool is_guarded = last && *last;
    say(probe_.check(is_guarded ? kOnceGuarded : kUntilGuarded));
  } while (clock_.sleep_for(kUntilGuarded, stop));
}

void GuardWatch::say(const Status& seen) {
  const std::string what = seen ? "" : seen.error().message;
  if (said_ == what) return;
  said_ = what;
  if (seen) {
    log_.info("Approvals are guarded");
  } else {
    log_.error("Approvals are not accepted", {{"error", what}});
  }
}

std::optional<std::string> GuardWatch::objection() const {
  if (probe_.was_in_force() || !needs_approvals(*policy_.get())) return std::nullopt;
  if (clock_.steady() >= begun_ + kGuardHoldsBack) return std::nullopt;
  const auto last = probe_.last();
  if (!last || *last) return "it is not known yet whether approvals are guarded";
  return last->error().message;
}

std::optional<bool> GuardWatch::guarded() const {
  if (!needs_approvals(*policy_.get())) return std::nullopt;
  const auto last = probe_.last();
  return last && last->has_value();
}

}  // namespace gpuward::remediator
