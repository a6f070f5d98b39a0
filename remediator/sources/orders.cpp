#include "remediator/sources/orders.h"

#include "core/kube/names.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMaxAlertname = 256;

std::string_view label(const Alert& alert, const char* name) {
  const auto found = alert.labels.find(name);
  return found == alert.labels.end() ? std::string_view() : std::string_view(found->second);
}

// What an alert rule may ask for; "none" is no order.
std::optional<Severity> parse_remediation(std::string_view word) {
  for (const Severity severity :
       {Severity::kIsolate, Severity::kReboot, Severity::kReset, Severity::kMonitor}) {
    if (word == to_string(severity)) return severity;
  }
  return std::nullopt;
}

Result<Order> to_order(const Alert& alert) {
  const auto severity = parse_remediation(label(alert, "remediation"));
  if (!severity) {
    return fail(ErrorKind::kInvalid,
                "label remediation: must be one of isolate, reboot, reset, monitor");
  }
  const std::string_view node = label(alert, "node");
  if (node.empty()) return fail(ErrorKind::kInvalid, "label node: missing");
  if (!kube::validate_node_name(node)) {
    return fail(ErrorKind::kInvalid, "label node: not a valid node name");
  }
  return Order{.node = std::string(node),
               .severity = *severity,
               .alertname = to_valid_utf8(label(alert, "alertname"), kMaxAlertname),
               .fingerprint = alert.fingerprint,
               .firing = alert.firing,
               .starts_at = alert.starts_at,
               .ends_at = alert.ends_at};
}

}  // namespace

Orders to_orders(std::span<const Alert> alerts) {
  Orders result;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    if (label(alerts[i], "remediation").empty()) {
      ++result.ignored;
      continue;
    }
    auto order = to_order(alerts[i]);
    if (order) {
      result.orders.push_back(std::move(*order));
    } else {
      result.rejected.push_back({i, order.error().message});
    }
  }
  return result;
}

}  // namespace gpuward::remediator
