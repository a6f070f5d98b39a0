#include "remediator/sources/orders.h"

#include "core/kube/names.h"
#include "core/runtime/text.h"
#include "remediator/model/error_class.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMaxAlertname = 256;

std::string_view label(const Alert& alert, const std::string& name) {
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

// The alert as `rule` has it; null: as it says itself.
Result<Order> to_order(const Alert& alert, const ForeignAlertRule* rule) {
  const auto severity =
      rule == nullptr ? parse_remediation(label(alert, "remediation")) : rule->severity;
  if (!severity) {
    return fail(ErrorKind::kInvalid,
                "label remediation: must be one of isolate, reboot, reset, monitor");
  }
  const std::string key = rule == nullptr ? "node" : rule->node_label;
  const std::string_view value = label(alert, key);
  const std::string_view node = rule == nullptr ? value : without_port(value);
  if (node.empty()) return fail(ErrorKind::kInvalid, "label " + key + ": missing");
  if (!kube::validate_node_name(node)) {
    return fail(ErrorKind::kInvalid, "label " + key + ": not a valid node name");
  }
  return Order{.node = std::string(node),
               .severity = *severity,
               .alertname = to_valid_utf8(label(alert, "alertname"), kMaxAlertname),
               .fingerprint = alert.fingerprint,
               .firing = alert.firing,
               .starts_at = alert.starts_at,
               .ends_at = alert.ends_at,
               .foreign = rule != nullptr,
               .error_class = error_class_of(alert.labels, *severity)};
}

}  // namespace

Orders to_orders(std::span<const Alert> alerts, std::span<const ForeignAlertRule> foreign) {
  Orders result;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    const bool speaks_for_itself = !label(alerts[i], "remediation").empty();
    const auto* rule = speaks_for_itself ? nullptr : rule_for(foreign, alerts[i].labels);
    if (!speaks_for_itself && rule == nullptr) {
      ++result.ignored;
      continue;
    }
    auto order = to_order(alerts[i], rule);
    if (order) {
      result.orders.push_back(std::move(*order));
    } else {
      result.rejected.push_back({i, order.error().message});
    }
  }
  return result;
}

Orders to_orders_under(const CurrentPolicy* policy, std::span<const Alert> alerts) {
  if (policy == nullptr) return to_orders(alerts);
  const auto in_force = policy->get();
  return to_orders(alerts, in_force->foreign_alerts);
}

}  // namespace gpuward::remediator
