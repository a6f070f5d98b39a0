#include "tests/simulation/sinks.h"

#include <algorithm>

namespace gpuward::remediator::simulation {

Sinks::Sinks(Stage& stage) : stage_(stage) {
  if (!stage.setting.care.notifies) return;
  stage.on_rewritten.push_back(
      [this](const Remediation& before, const Remediation& after) { on_rewritten(before, after); });
}

bool Sinks::are_notified(const NotificationEvent& event, const std::vector<std::string>& sinks) {
  require(std::ranges::equal(sinks, std::array{"oncall"}), "sinks",
          event.remediation + " tells somebody else: " + event.moment);
  if (stage_.is_off(Sabotage::kSinks)) return true;
  if (!stage_.is_quiet && stage_.sinks_chance.happens(0.3)) return false;
  told_.emplace(event.remediation, event.moment);
  return true;
}

// Each such change of a Remediation causes a notification; any write may make it.
void Sinks::on_rewritten(const Remediation& before, const Remediation& after) {
  const RemediationStatus &was = before.status, &is = after.status;
  const auto want = [&](Moment moment) {
    wanted_[{after.name, std::string(to_string(moment))}] = stage_.restores;
  };
  const bool has_moved = was.phase != is.phase;
  if (has_moved && is.phase == Phase::kHeld) want(Moment::kHeld);
  if (has_moved && is.phase == Phase::kPaused) want(Moment::kPaused);
  if (is.escalated_to > was.escalated_to) want(Moment::kEscalated);
  if (before.open() && !after.open()) want(Moment::kClosed);
}

// Leaves out Remediations that were deleted, edited, or undone by a restore.
bool Sinks::is_known(const std::string& remediation, int restores) const {
  const Remediation* const one = stage_.truth.remediation(remediation);
  return one != nullptr && !stage_.edited_since(one->node_uid, 0) &&
         !stage_.deleted.contains(remediation) && !stage_.wiped.contains(remediation) &&
         restores == stage_.restores;
}

void Sinks::check_rest() const {
  for (const auto& [what, restores] : wanted_) {
    if (!is_known(what.first, restores)) continue;
    require(told_.contains(what), "notified",
            "nobody was told that " + what.first + " is " + what.second);
  }
}

}  // namespace gpuward::remediator::simulation
