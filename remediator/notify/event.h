// One notification in the form that its receiver gets: the fields of the replaced monitor's event,
// and gpuward's own fields. act/ makes it from a Remediation and one of its notices, and the
// sinks send it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

struct NotificationEvent {
  std::string id;  // The same in every repeat.
  // Fields of the replaced monitor.
  std::string timestamp = {};   // RFC 3339, UTC
  std::string error_type = {};  // A class of model/error_class.
  std::string node_name = {};
  std::string instance_id = {};    // `i-0123` for `aws:///eu-1a/i-0123`.
  std::string error_details = {};  // The alerts as text.
  std::string cluster_name = {};
  // gpuward's own fields.
  std::string remediation = {}, severity = {}, moment = {}, step = {}, phase = {}, mode = {};
  std::string message = {};
  // Link to the runbook, or the command that prints it; empty if no rule of gpuward fires.
  std::string runbook = {};
  bool dry_run = false;  // gpuward only observes the node.
  bool drill = false;    // All evidence of the node comes from injected faults.
};

[[nodiscard]] NotificationEvent event_of(const Remediation& now, const Notice& notice,
                                         const NotificationPolicy& policy);

// Returns the value of a placeholder of policy/message_template.
[[nodiscard]] std::string value_in(const NotificationEvent& event, std::string_view placeholder);

// Fills the template with the event's values. The text starts with "(observed only)" if gpuward
// only observes the node, and with "(drill)" for a drill.
[[nodiscard]] std::string text_of(const NotificationEvent& event, std::string_view text_template);

// Returns a JSON object with all fields, and `text`.
[[nodiscard]] std::string to_event_json(const NotificationEvent& event, const std::string& text);

}  // namespace gpuward::remediator
