#include "remediator/tell/texts/standing.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/kube/node_names.h"
#include "remediator/tell/page/runbooks.h"
#include "remediator/tell/texts/last_command.h"

namespace gpuward::remediator {
namespace {

// The deciding rules that are reasons to wait.
constexpr std::array<std::string_view, 4> kHolding = {"budget.", "guard.", "wait.", "excluded"};

bool stands_still(Phase phase) {
  return phase == Phase::kWaiting || phase == Phase::kHeld || phase == Phase::kPaused;
}

}  // namespace

std::string_view rule_waited_for(const Remediation& remediation) {
  const std::string& rule = remediation.status.rule;
  if (!remediation.open()) return {};
  const bool holds = std::ranges::any_of(
      kHolding, [&](std::string_view prefix) { return rule.starts_with(prefix); });
  return holds || stands_still(remediation.status.phase) ? std::string_view(rule)
                                                         : std::string_view();
}

std::string reason_of(const Remediation& remediation, WallTime now) {
  const std::string& message = remediation.status.message;
  if (!message.ends_with(" by annotation")) return message;
  const std::string who = who_asked(remediation, now);
  return who.empty() ? message : who;
}

bool says_healthy(const kube::Node& node) {
  return std::ranges::any_of(node.meta.labels, [](const auto& label) {
    return is_node_key(label.first, NodeName::kStatus) && label.second == "pass";
  });
}

const AlertEvidence* alert_with_runbook(const Remediation& remediation) {
  const AlertEvidence* found = nullptr;
  for (const AlertEvidence& alert : remediation.alerts) {
    if (alert.foreign || find_runbook(alert.alertname) == nullptr) continue;
    if (found == nullptr || (alert.firing() && !found->firing())) found = &alert;
  }
  return found;
}

std::string age_text(WallTime since, WallTime now) {
  const auto age = std::max(now - since, WallTime::duration::zero());
  if (age < std::chrono::minutes(2))
    return std::to_string(std::chrono::floor<std::chrono::seconds>(age).count()) + "s";
  if (age < std::chrono::hours(2))
    return std::to_string(std::chrono::floor<std::chrono::minutes>(age).count()) + "m";
  if (age < std::chrono::days(2))
    return std::to_string(std::chrono::floor<std::chrono::hours>(age).count()) + "h";
  return std::to_string(std::chrono::floor<std::chrono::days>(age).count()) + "d";
}

}  // namespace gpuward::remediator
