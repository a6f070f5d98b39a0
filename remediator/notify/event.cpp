#include "remediator/notify/event.h"

#include <array>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "remediator/model/error_class.h"
#include "remediator/policy/message_template.h"

namespace gpuward::remediator {
namespace {

using Member = std::pair<std::string_view, std::string NotificationEvent::*>;

constexpr std::array<Member, 14> kMembers{{
    {"timestamp", &NotificationEvent::timestamp},
    {"error_type", &NotificationEvent::error_type},
    {"node_name", &NotificationEvent::node_name},
    {"instance_id", &NotificationEvent::instance_id},
    {"error_details", &NotificationEvent::error_details},
    {"cluster_name", &NotificationEvent::cluster_name},
    {"remediation", &NotificationEvent::remediation},
    {"severity", &NotificationEvent::severity},
    {"moment", &NotificationEvent::moment},
    {"step", &NotificationEvent::step},
    {"phase", &NotificationEvent::phase},
    {"mode", &NotificationEvent::mode},
    {"message", &NotificationEvent::message},
    {"runbook", &NotificationEvent::runbook},
}};

std::string last_segment(const std::string& provider_id) {
  return provider_id.substr(provider_id.rfind('/') + 1);
}

std::string details_of(const Remediation& remediation) {
  std::string text;
  for (const AlertEvidence& alert : remediation.alerts) {
    text += (text.empty() ? "" : ", ") + alert.alertname + (alert.firing() ? "" : " (ended)");
    if (!alert.error_class.empty()) text += " " + alert.error_class;
  }
  return text;
}

// Leaves out real alerts, which came later: the event of a drill stays one, even if it is sent
// late.
Remediation drill_of(Remediation remediation) {
  if (remediation.is_drill()) return remediation;
  std::erase_if(remediation.alerts, [](const AlertEvidence& alert) { return !alert.drill; });
  remediation.status.error_class.clear();  // no drill is among the exporter's findings
  return remediation;
}

// A link or a command for the worst alert of gpuward's own rules.
std::string runbook_of(const Remediation& remediation, const std::string& url) {
  const AlertEvidence* worst = nullptr;
  for (const AlertEvidence& alert : remediation.alerts) {
    const bool is_ours = !alert.foreign && alert.alertname.starts_with("GpuNode");
    if (is_ours && (worst == nullptr || worst->severity < alert.severity)) worst = &alert;
  }
  if (worst == nullptr) return {};
  if (url.empty()) return "gpuwardctl runbook " + worst->alertname;
  return url + (url.ends_with('/') ? "" : "/") + worst->alertname;
}

// True for mode observe, an excluded node, a severity that is only recorded, and the end of a
// Remediation that did nothing.
bool is_dry_run(const Remediation& remediation, const Notice& notice) {
  return notice.mode == to_string(Mode::kObserve) || notice.phase == to_string(Phase::kObserved) ||
         remediation.status.rule == "excluded" ||
         (notice.moment == Moment::kClosed && remediation.status.steps.empty());
}

}  // namespace

NotificationEvent event_of(const Remediation& now, const Notice& notice,
                           const NotificationPolicy& policy) {
  const Remediation remediation = notice.drill ? drill_of(now) : now;
  return {.id = notice.id,
          .timestamp = to_rfc3339_ms(notice.at),
          .error_type = error_class_of(remediation),
          .node_name = remediation.node,
          .instance_id = last_segment(remediation.instance_id),
          .error_details = details_of(remediation),
          .cluster_name = policy.cluster,
          .remediation = remediation.name,
          .severity = std::string(to_string(notice.severity)),
          .moment = std::string(to_string(notice.moment)),
          .step = notice.step,
          .phase = notice.phase,
          .mode = notice.mode,
          .message = notice.message,
          .runbook = runbook_of(remediation, policy.runbook_url),
          .dry_run = is_dry_run(remediation, notice),
          .drill = notice.drill || remediation.is_drill()};
}

std::string value_in(const NotificationEvent& event, std::string_view placeholder) {
  for (const auto& [name, member] : kMembers) {
    if (name == placeholder) return event.*member;
  }
  return {};
}

std::string text_of(const NotificationEvent& event, std::string_view text_template) {
  return std::string(event.drill ? "(drill) " : "") + (event.dry_run ? "(observed only) " : "") +
         fill_template(text_template, [&](std::string_view name) { return value_in(event, name); });
}

std::string to_event_json(const NotificationEvent& event, const std::string& text) {
  Json json = {
      {"id", event.id}, {"dry_run", event.dry_run}, {"drill", event.drill}, {"text", text}};
  for (const auto& [name, member] : kMembers) json[std::string(name)] = event.*member;
  return dump_json(json);
}

}  // namespace gpuward::remediator
