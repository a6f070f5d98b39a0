#include "remediator/model/step_times.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gpuward::remediator {
namespace {

// By Milestone.
constexpr std::array<std::string_view, kAllMilestones.size()> kReached = {
    "recorded", "tainted", "cordoned", "drained", "reset or restarted", "back in service"};

}  // namespace

std::vector<StepTime> step_times(const Remediation& remediation, const RemediationStatus& status) {
  std::vector<StepTime> times;
  if (remediation.alerts.empty()) return times;
  const WallTime fault =
      std::ranges::min(remediation.alerts, {}, &AlertEvidence::starts_at).starts_at;
  for (const auto& [milestone, at] : status.reached) {
    // The clocks of two machines may disagree.
    const auto age = std::max(at - fault, WallTime::duration::zero());
    const double seconds = std::chrono::duration<double>(age).count();
    const auto later = std::ranges::upper_bound(times, seconds, {}, &StepTime::seconds);
    times.insert(later, {kReached[static_cast<std::size_t>(milestone)], seconds});
  }
  return times;
}

std::string step_times_text(const Remediation& remediation, const RemediationStatus& status) {
  std::string text;
  for (const StepTime& time : step_times(remediation, status)) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), " %.1f s", time.seconds);
    text += (text.empty() ? "" : ", ") + std::string(time.what) + seconds.data();
  }
  return text;
}

}  // namespace gpuward::remediator
