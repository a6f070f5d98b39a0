#include "remediator/inbox/sources/alertmanager_alerts.h"

#include <array>
#include <cstdio>

#include "core/kube/names.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/inbox/sources/connections.h"
#include "remediator/model/error_class.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/text_map.h"
#include "remediator/policy/cluster_name.h"

namespace gpuward::remediator {
namespace {

// Grafana's contact point sends Alertmanager's payload with further members, and with its own
// version (grafana/alerting, receivers/webhook).
constexpr std::string_view kAlertmanagerVersion = "4", kGrafanaVersion = "1";
// The longest key shown in an answer; keys come from the sender.
constexpr std::size_t kMaxNamedKey = 64;

std::string member_path(const std::string& path, std::string_view key) {
  const std::string shown(key.substr(0, kMaxNamedKey));
  return path.empty() ? shown : path + "." + shown;
}

std::unexpected<Error> fault(const std::string& path, std::string_view what) {
  return fail(ErrorKind::kInvalid, path + ": " + std::string(what));
}

// A member that must be a string; absent counts as empty unless `required`.
enum class Presence : std::uint8_t { kOptional, kRequired };

Result<std::string> text_member(const Json& object, std::string_view key, const std::string& path,
                                Presence presence) {
  const Json& value = member_at(object, key);
  if (value.is_null() && presence == Presence::kOptional) return std::string();
  if (!value.is_string()) return fault(member_path(path, key), "expected a string");
  return value.get<std::string>();
}

Result<std::map<std::string, std::string>> decode_labels(const Json& json, const std::string& path,
                                                         const PayloadLimits& limits) {
  if (!json.is_object()) return fault(path, "expected an object of strings");
  if (json.size() > limits.max_labels) {
    return fail(ErrorKind::kTooLarge,
                path + ": more than " + std::to_string(limits.max_labels) + " labels");
  }
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return fault(member_path(path, key), "expected a string");
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > limits.max_label_bytes || key.size() > limits.max_label_bytes) {
      return fail(ErrorKind::kTooLarge, member_path(path, key) + ": longer than " +
                                            std::to_string(limits.max_label_bytes) + " bytes");
    }
    labels.emplace(key, text);
  }
  return labels;
}

Result<std::chrono::system_clock::time_point> time_member(const Json& object, std::string_view key,
                                                          const std::string& path) {
  const auto text = text_member(object, key, path, Presence::kRequired);
  if (!text) return std::unexpected(text.error());
  const auto time = parse_rfc3339(*text);
  if (!time) return fault(member_path(path, key), "expected an RFC 3339 time");
  return *time;
}

Result<std::string> fingerprint_member(const Json& object, const std::string& path,
                                       const std::map<std::string, std::string>& labels) {
  auto text = text_member(object, "fingerprint", path, Presence::kOptional);
  if (!text) return text;
  if (text->empty()) return fingerprint_of(labels);
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  if (text->size() > 64 || text->find_first_not_of(kHex) != std::string::npos) {
    return fault(member_path(path, "fingerprint"), "expected at most 64 hexadecimal digits");
  }
  return text;
}

// Decodes the fields that the webhook's alerts and the API's share.
Result<Alert> decode_common(const Json& json, const std::string& path,
                            const PayloadLimits& limits) {
  if (!json.is_object()) return fault(path, "expected an object");
  Alert alert;
  auto labels = decode_labels(member_at(json, "labels"), member_path(path, "labels"), limits);
  if (!labels) return std::unexpected(labels.error());
  alert.labels = std::move(*labels);
  const auto starts_at = time_member(json, "startsAt", path);
  if (!starts_at) return std::unexpected(starts_at.error());
  alert.starts_at = *starts_at;
  auto fingerprint = fingerprint_member(json, path, alert.labels);
  if (!fingerprint) return std::unexpected(fingerprint.error());
  alert.fingerprint = std::move(*fingerprint);
  return alert;
}

Result<Alert> decode_alert(const Json& json, const std::string& path, const PayloadLimits& limits) {
  auto alert = decode_common(json, path, limits);
  if (!alert) return alert;
  const auto status = text_member(json, "status", path, Presence::kRequired);
  if (!status) return std::unexpected(status.error());
  if (*status != "firing" && *status != "resolved") {
    return fault(member_path(path, "status"), "expected firing or resolved");
  }
  alert->firing = *status == "firing";
  if (alert->firing) return alert;
  const auto ends_at = time_member(json, "endsAt", path);
  if (!ends_at) return std::unexpected(ends_at.error());
  alert->ends_at = *ends_at;
  return alert;
}

Result<Alert> decode_api_alert(const Json& json, const std::string& path,
                               const PayloadLimits& limits) {
  auto alert = decode_common(json, path, limits);
  if (!alert) return alert;
  const Json& status = member_at(json, "status");
  alert->is_suppressed = status.is_object() && string_at(status, "state") == "suppressed";
  return alert;
}

// Decodes the elements of a list one by one. It keeps the first fault until the whole body is read,
// because faults of the body, such as an unknown version, say more and come first.
class AlertList {
 public:
  using Decode = Result<Alert> (*)(const Json&, const std::string& path, const PayloadLimits&);
  using OnAlert = std::function<void(Alert)>;

  AlertList(std::string path, const PayloadLimits& limits, Decode decode, const OnAlert& on_alert)
      : path_(std::move(path)), limits_(limits), decode_(decode), on_alert_(on_alert) {}

  // Returns the root, without the elements of the list.
  [[nodiscard]] Result<Json> read(std::string_view body) {
    return parse_json_list(body,
                           {.max_bytes = limits_.max_bytes,
                            .max_depth = limits_.max_depth,
                            .max_values = limits_.max_values,
                            .max_members = limits_.max_members,
                            .max_token_bytes = limits_.max_token_bytes},
                           {.key = path_, .on_element = [this](const Json& json) { add(json); }});
  }

  // `list`: the list itself, without its elements.
  [[nodiscard]] Status outcome(const Json& list) const {
    if (!list.is_array()) return fault(path_, "expected an array");
    if (count_ > limits_.max_alerts) {
      return fail(ErrorKind::kTooLarge, path_ + ": more than " +
                                            std::to_string(limits_.max_alerts) +
                                            " alerts; set max_alerts of the receiver");
    }
    return fault_;
  }

 private:
  void add(const Json& json) {
    const std::size_t index = count_++;
    if (!fault_ || index >= limits_.max_alerts) return;
    auto alert = decode_(json, path_ + "[" + std::to_string(index) + "]", limits_);
    if (alert) {
      on_alert_(*std::move(alert));
    } else {
      fault_ = std::unexpected(alert.error());
    }
  }

  std::string path_;
  const PayloadLimits& limits_;
  Decode decode_;
  const OnAlert& on_alert_;
  std::size_t count_ = 0;
  Status fault_;
};

Status check_version(const Json& root) {
  if (!root.is_object()) return fault("body", "expected an object");
  const Json& version = member_at(root, "version");
  if (!version.is_string()) return fault("version", "expected the string \"4\"");
  const auto& text = version.get_ref<const std::string&>();
  if (text == kAlertmanagerVersion || text == kGrafanaVersion) return {};
  return fault("version",
               "only payload versions \"4\" (Alertmanager) and \"1\" (Grafana) are understood");
}

Result<std::uint64_t> count_member(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  if (value.is_null()) return 0;  // 0.18 and older do not send it
  if (!value.is_number_unsigned())
    return fault(std::string(key), "expected a non-negative whole number");
  return value.get<std::uint64_t>();
}

constexpr std::size_t kMaxAlertname = 256;
constexpr std::size_t kMaxSender = 256;

// The severities that an alert rule may request; "none" makes no signal.
std::optional<Severity> parse_remediation(std::string_view word) {
  for (const Severity severity :
       {Severity::kIsolate, Severity::kReboot, Severity::kReset, Severity::kMonitor}) {
    if (word == to_string(severity)) return severity;
  }
  return std::nullopt;
}

Result<bool> is_about_us(const Alert& alert, const AlertRules& rules) {
  if (rules.kept_by_prometheus && value_at(alert.labels, kClusterLabel).empty()) return true;
  return is_of_cluster(alert.labels, rules.cluster);
}

// The label as GpuDrill sets it. With any other value the alert counts as a real fault, which would
// otherwise be hidden.
bool is_of_drill(const Alert& alert) { return value_at(alert.labels, "drill") == "true"; }

// Returns the requested remediation. A drill has a label of its own for it, so that programs that
// do not know drills ignore it.
std::string_view remediation_label(const Alert& alert) {
  const std::string_view drill = value_at(alert.labels, "drill_remediation");
  return is_of_drill(alert) && !drill.empty() ? drill : value_at(alert.labels, "remediation");
}

// Applies `rule` to the alert; null: uses the alert's own labels.
Result<AlertSignal> to_signal(const Alert& alert, const ForeignAlertRule* rule) {
  const auto severity =
      rule == nullptr ? parse_remediation(remediation_label(alert)) : rule->severity;
  if (!severity) {
    return fail(ErrorKind::kInvalid,
                "label remediation: must be one of isolate, reboot, reset, monitor");
  }
  if (is_history_fingerprint(alert.fingerprint)) {
    return fail(ErrorKind::kInvalid,
                "fingerprint: fingerprints of ten digits are reserved for gpuward's own alerts");
  }
  const std::string key = rule == nullptr ? "node" : rule->node_label;
  const std::string_view value = value_at(alert.labels, key);
  const std::string_view node = rule == nullptr ? value : without_port(value);
  if (node.empty()) return fail(ErrorKind::kInvalid, "label " + key + ": missing");
  if (!kube::validate_node_name(node)) {
    return fail(ErrorKind::kInvalid, "label " + key + ": not a valid node name");
  }
  return AlertSignal{.node = std::string(node),
                     .severity = *severity,
                     .alertname = to_valid_utf8(value_at(alert.labels, "alertname"), kMaxAlertname),
                     .fingerprint = alert.fingerprint,
                     .firing = alert.firing,
                     .starts_at = alert.starts_at,
                     .ends_at = alert.ends_at,
                     .foreign = rule != nullptr,
                     .error_class = error_class_of(alert.labels, *severity),
                     .drill = is_of_drill(alert)};
}

}  // namespace

std::string fingerprint_of(const std::map<std::string, std::string>& labels) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&hash](std::string_view text) {
    for (const char byte : text)
      hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
    hash = (hash ^ 0xffU) * 1099511628211ULL;
  };
  for (const auto& [key, value] : labels) {
    mix(key);
    mix(value);
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

Result<Notification> decode_notification(std::string_view body, const PayloadLimits& limits,
                                         const std::function<void(Alert)>& on_alert) {
  AlertList list("alerts", limits, decode_alert, on_alert);
  const auto root = list.read(body);
  if (!root) return std::unexpected(root.error());
  if (auto status = check_version(*root); !status) return std::unexpected(status.error());
  Notification notification;
  auto group_key = text_member(*root, "groupKey", "", Presence::kOptional);
  if (!group_key) return std::unexpected(group_key.error());
  notification.group_key = std::move(*group_key);
  const auto truncated = count_member(*root, "truncatedAlerts");
  if (!truncated) return std::unexpected(truncated.error());
  notification.truncated_alerts = *truncated;
  notification.receiver = to_valid_utf8(string_at(*root, "receiver"), kMaxSender);
  const std::string url = string_at(*root, "externalURL");
  if (!url.contains('@')) notification.external_url = to_valid_utf8(url, kMaxSender);
  if (auto status = list.outcome(member_at(*root, "alerts")); !status)
    return std::unexpected(status.error());
  return notification;
}

Result<std::vector<Alert>> decode_active_alerts(std::string_view body,
                                                const PayloadLimits& limits) {
  std::vector<Alert> alerts;
  const AlertList::OnAlert keep = [&alerts](Alert alert) { alerts.push_back(std::move(alert)); };
  AlertList list("", limits, decode_api_alert, keep);
  const auto root = list.read(body);
  if (!root) return std::unexpected(root.error());
  if (auto status = list.outcome(*root); !status) return std::unexpected(status.error());
  return alerts;
}

AlertRules alert_rules_of(const Policy& policy) {
  return {.foreign = policy.foreign_alerts, .cluster = policy.cluster};
}

namespace {

void add_signal(AlertSignals& collected, std::size_t index, const Alert& alert,
                const AlertRules& rules) {
  const bool speaks_for_itself = !remediation_label(alert).empty();
  const auto* rule = speaks_for_itself ? nullptr : rule_for(rules.foreign, alert.labels);
  const bool is_for_us = speaks_for_itself || rule != nullptr;
  if (alert.firing && value_at(alert.labels, "alertname") == kHeartbeatAlert) {
    const bool is_of_us = is_about_us(alert, rules).value_or(false);
    (is_of_us ? collected.has_heartbeat : collected.has_foreign_heartbeat) = true;
  }
  const bool may_end = !is_for_us && !alert.firing && !is_history_fingerprint(alert.fingerprint);
  if (may_end && is_about_us(alert, rules).value_or(false))
    collected.ends_without_rule.push_back({alert.fingerprint, alert.starts_at, alert.ends_at});
  const auto is_ours = is_for_us ? is_about_us(alert, rules) : false;
  if (!is_ours) {
    collected.rejected.push_back({index, is_ours.error().message});
    return;
  }
  if (!*is_ours) {
    ++collected.ignored;
    return;
  }
  auto signal = to_signal(alert, rule);
  if (signal) {
    collected.signals.push_back(std::move(*signal));
  } else {
    collected.rejected.push_back({index, signal.error().message});
  }
}

}  // namespace

AlertSignals to_signals(std::span<const Alert> alerts, const AlertRules& rules) {
  AlertSignals result;
  for (std::size_t i = 0; i < alerts.size(); ++i) add_signal(result, i, alerts[i], rules);
  return result;
}

SignalCollector::SignalCollector(const CurrentPolicy* policy)
    : policy_(policy == nullptr ? nullptr : policy->get()),
      rules_(policy_ ? alert_rules_of(*policy_) : AlertRules{}) {}

void SignalCollector::add(const Alert& alert) { add_signal(collected_, count_++, alert, rules_); }

}  // namespace gpuward::remediator
