#include "remediator/tell/web/story.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

// Parses a line of the history, which begins with its time.
std::optional<Story::value_type> event_of(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto at = parse_rfc3339(line.substr(0, blank));
  if (!at) return std::nullopt;
  return Story::value_type(*at, line.substr(blank + 1));
}

void add_alert(const AlertEvidence& alert, Story& story) {
  const std::string name = "alert " + alert.alertname;
  story.insert({alert.starts_at, name + " fires, severity " +
                                     std::string(to_string(alert.severity)) +
                                     (alert.foreign ? ", not from gpuward's rules" : "") +
                                     (alert.drill ? ", a drill" : "")});
  if (alert.ended_at) story.insert({*alert.ended_at, name + " has ended"});
}

void add_step(const StepRecord& step, Story& story) {
  const std::string name = "step " + std::string(to_string(step.step));
  if (step.intent_at) {
    story.insert({*step.intent_at,
                  name + " begins" +
                      (step.attempts > 1 ? ", attempt " + std::to_string(step.attempts) : "")});
  }
  if (step.finished_at) {
    story.insert({*step.finished_at, name + ": " + std::string(to_string(step.result)) +
                                         (step.message.empty() ? "" : ", " + step.message)});
  }
}

}  // namespace

Story story_of(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  Story story;
  for (const NodeFinding& finding : status.findings)
    story.insert({finding.first_seen, "found: " + summary_of(finding)});
  for (const AlertEvidence& alert : remediation.alerts) add_alert(alert, story);
  if (remediation.created) story.insert({*remediation.created, "remediation opened"});
  for (const std::string& line : status.history) {
    if (auto event = event_of(line)) story.insert(*std::move(event));
  }
  for (const StepRecord& step : status.steps) add_step(step, story);
  if (const auto& asked = status.approval) {
    const std::string step(to_string(asked->step));
    story.insert({asked->requested_at, "approval requested: " + step});
    if (asked->seen_at) story.insert({*asked->seen_at, step + " approved by " + asked->by});
  }
  if (status.cleared) {
    story.insert({status.cleared->at, "a report lowered the severity to " +
                                          std::string(to_string(status.cleared->severity))});
  }
  if (status.closed_at) {
    story.insert({*status.closed_at, "closed: " + std::string(to_string(status.phase)) +
                                         (status.message.empty() ? "" : ", " + status.message)});
  }
  return story;
}

}  // namespace gpuward::remediator
