// One notification as its receiver gets it: the event of the monitor that is replaced, and what is
// ours beside it. Made from a Remediation and a notice of it by execution/, sent by the sinks.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

struct NotificationEvent {
  std::string id;  // the same each time that it is sent
  // As the replaced monitor has them.
  std::string timestamp = {};   // RFC 3339, UTC
  std::string error_type = {};  // model/error_class
  std::string node_name = {};
  std::string instance_id = {};    // `i-0123` of `aws:///eu-1a/i-0123`
  std::string error_details = {};  // the alerts
  std::string cluster_name = {};
  // Ours.
  std::string remediation = {}, severity = {}, moment = {}, step = {}, phase = {}, mode = {};
  std::string message = {};
  // A link to the runbook or the command that prints it; empty if no rule of gpuward fires.
  std::string runbook = {};
  bool dry_run = false;  // gpuward does nothing about it
  bool drill = false;    // nothing that it rests on is real
};

[[nodiscard]] NotificationEvent event_of(const Remediation& now, const Notice& notice,
                                         const NotificationPolicy& policy);

// The value of a placeholder of policy/message_template.
[[nodiscard]] std::string value_in(const NotificationEvent& event, std::string_view placeholder);

// The template with the event's values; what is only watched begins with "(observed only)", what
// is of a drill with "(drill)".
[[nodiscard]] std::string text_of(const NotificationEvent& event, std::string_view text_template);

// A JSON object of all that is known, with `text` beside it.
[[nodiscard]] std::string to_event_json(const NotificationEvent& event, const std::string& text);

}  // namespace gpuward::remediator
