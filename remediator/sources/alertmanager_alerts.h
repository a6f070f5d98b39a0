// An Alertmanager's alerts as plain values: the body of a webhook (payload version 4, as sent by
// 0.25 to 0.34) and the answer of /api/v2/alerts become alerts, and alerts become alert signals
// about nodes. Strict about the fields that gpuward reads and about sizes; ignores fields that
// newer versions add. An invalid alert never affects the others: it is rejected with its index and
// the reason. Pure; used by all readers of alerts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "remediator/model/evidence.h"
#include "remediator/policy/current_policy.h"
#include "remediator/policy/foreign_alerts.h"

namespace gpuward::remediator {

struct Alert {
  bool firing = true;
  bool is_suppressed = false;  // silenced or inhibited, by the API; a webhook does not say
  std::map<std::string, std::string> labels;
  std::chrono::system_clock::time_point starts_at;
  std::chrono::system_clock::time_point ends_at;  // only valid for a resolved alert
  std::string fingerprint;                        // made from the labels if the sender gave none
};

// The fields of a notification other than its alerts.
struct Notification {
  std::string group_key;
  std::uint64_t truncated_alerts = 0;  // further alerts, which only the API has
  // The sender's description of itself; valid UTF-8, 256 bytes at most; a URL without credentials.
  std::string receiver = {}, external_url = {};
};

struct PayloadLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 16;
  std::size_t max_alerts = 10'000;
  std::size_t max_labels = 64;
  std::size_t max_label_bytes = 4096;
  std::size_t max_values = 2'000'000;       // in the whole body, read or not
  std::size_t max_members = 1'000;          // of one object, read or not
  std::size_t max_token_bytes = 1U << 20U;  // of one string or number, read or not
};

// Returns the fingerprint that Alertmanager gives an alert with these labels: FNV-1a over them, in
// order.
[[nodiscard]] std::string fingerprint_of(const std::map<std::string, std::string>& labels);

// Calls `on_alert` with each alert while it reads the body, in order, and keeps none. If the result
// is an error, the whole body is rejected, and the alerts already passed on must not be used.
//
// kInvalid with the place of the fault (`alerts[3].labels.node: expected a string`), kTooLarge over
// a limit. Errors repeat none of the sender's values, because the answer ends up in a log.
[[nodiscard]] Result<Notification> decode_notification(std::string_view body,
                                                       const PayloadLimits& limits,
                                                       const std::function<void(Alert)>& on_alert);

// Decodes the answer of GET /api/v2/alerts: the firing alerts, with the same limits.
[[nodiscard]] Result<std::vector<Alert>> decode_active_alerts(std::string_view body,
                                                              const PayloadLimits& limits = {});

struct BadAlert {
  std::size_t index = 0;  // in the payload
  std::string what;       // never repeats the sender's values
};

// The end of an alert that matches no rule, or no longer matches one.
struct EndWithoutRule {
  std::string fingerprint;
  WallTime starts_at, ends_at;
};

struct AlertSignals {
  std::vector<AlertSignal> signals;
  std::size_t ignored = 0;  // neither a `remediation` label nor a rule, or of another cluster
  std::vector<EndWithoutRule> ends_without_rule;  // of the ignored ones
  std::vector<BadAlert> rejected;
  // kHeartbeatAlert fires in it and belongs to this cluster; or it belongs to another cluster, or
  // names none that the policy knows.
  bool has_heartbeat = false, has_foreign_heartbeat = false;

  [[nodiscard]] std::size_t count() const {  // of the alerts
    return signals.size() + ignored + rejected.size();
  }
};

// Which alerts are accepted, and how: the policy's `foreign_alerts` and `cluster`.
struct AlertRules {
  std::span<const ForeignAlertRule> foreign = {};  // for alerts without a remediation label
  std::string_view cluster = {};                   // alerts of other clusters are ignored
  // For alerts read from a Prometheus, which adds its external labels only when it sends: alerts
  // that name no cluster are its own.
  bool kept_by_prometheus = false;
};
[[nodiscard]] AlertRules alert_rules_of(const Policy& policy);

[[nodiscard]] AlertSignals to_signals(std::span<const Alert> alerts, const AlertRules& rules = {});

// The same, alert by alert, with the rules of the policy in force at its construction.
class SignalCollector {
 public:
  explicit SignalCollector(const CurrentPolicy* policy);  // null: no rules
  void add(const Alert& alert);
  [[nodiscard]] AlertSignals take() { return std::move(collected_); }

 private:
  std::shared_ptr<const Policy> policy_;
  AlertRules rules_;
  std::size_t count_ = 0;
  AlertSignals collected_;
};

}  // namespace gpuward::remediator
