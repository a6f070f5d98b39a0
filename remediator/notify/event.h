// One notification as its receiver gets it: the fields of the replaced monitor's event, and
// gpuward's own. execution/ makes it from a Remediation and one of its notices; the sinks send it.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

struct NotificationEvent {
  std::string id;  // the same in every repeat
  // Fields of the replaced monitor.
  std::string timestamp = {};   // RFC 3339, UTC
  std::string error_type = {};  // model/error_class
  std::string node_name = {};
  std::string instance_id = {};    // `i-0123` of `aws:///eu-1a/i-0123`
  std::string error_details = {};  // the alerts
  std::string cluster_name = {};
  // gpuward's own fields.
  std::string remediation = {}, severity = {}, moment = {}, step = {}, phase = {}, mode = {};
  std::string message = {};
  // A link to the runbook or the command that prints it; empty if no rule of gpuward fires.
  std::string runbook = {};
  bool dry_run = false;  // gpuward only observes the node
  bool drill = false;    // all of its evidence comes from injected faults
};

[[nodiscard]] NotificationEvent event_of(const Remediation& now, const Notice& notice,
                                         const NotificationPolicy& policy);

// Returns the value of a placeholder of policy/message_template.
[[nodiscard]] std::string value_in(const NotificationEvent& event, std::string_view placeholder);

// Fills the template with the event's values. The text starts with "(observed only)" if gpuward
// only observes the node, and with "(drill)" for a drill.
[[nodiscard]] std::string text_of(const NotificationEvent& event, std::string_view text_template);

// A JSON object with all fields, and `text`.
[[nodiscard]] std::string to_event_json(const NotificationEvent& event, const std::string& text);

}  // namespace gpuward::remediator
