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
  // The alert is silenced or inhibited, as the API reports; a webhook does not report it.
  bool is_suppressed = false;
  std::map<std::string, std::string> labels;
  std::chrono::system_clock::time_point starts_at;
  std::chrono::system_clock::time_point ends_at;  // Only valid for a resolved alert.
  // Computed from the labels if the sender gave none.
  std::string fingerprint;
};

// The fields of a notification other than its alerts.
struct Notification {
  std::string group_key;
  std::uint64_t truncated_alerts = 0;  // Number of further alerts that only the API has.
  // The sender's description of itself: valid UTF-8, at most 256 bytes, a URL without credentials.
  std::string receiver = {}, external_url = {};
};

struct PayloadLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 16;
  std::size_t max_alerts = 10'000;
  std::size_t max_labels = 64;
  std::size_t max_label_bytes = 4096;
  // Limit for all values in the body, including fields that gpuward does not read.
  std::size_t max_values = 2'000'000;
  // Limit for one object, including fields that gpuward does not read.
  std::size_t max_members = 1'000;
  // Limit for one string or number, including fields that gpuward does not read.
  std::size_t max_token_bytes = 1U << 20U;
};

// Returns the fingerprint that Alertmanager gives an alert with these labels: the FNV-1a hash of
// the labels in order.
[[nodiscard]] std::string fingerprint_of(const std::map<std::string, std::string>& labels);

// Calls `on_alert` with each alert in order while it reads the body. After an error the whole body
// is rejected, and the caller must not use the alerts already passed on.
//
// Returns kInvalid with the place of the fault (`alerts[3].labels.node: expected a string`), or
// kTooLarge over a limit. Errors contain no value of the sender, because the answer is logged.
[[nodiscard]] Result<Notification> decode_notification(std::string_view body,
                                                       const PayloadLimits& limits,
                                                       const std::function<void(Alert)>& on_alert);

// Decodes the answer of GET /api/v2/alerts. Returns the firing alerts, with the same limits.
[[nodiscard]] Result<std::vector<Alert>> decode_active_alerts(std::string_view body,
                                                              const PayloadLimits& limits = {});

struct BadAlert {
  std::size_t index = 0;  // Position in the payload.
  std::string what;       // The fault, without the sender's values.
};

// The end of an alert that matches no rule, or no longer matches one.
struct EndWithoutRule {
  std::string fingerprint;
  WallTime starts_at, ends_at;
};

struct AlertSignals {
  std::vector<AlertSignal> signals;
  // Alerts without a `remediation` label and without a rule, and alerts of another cluster.
  std::size_t ignored = 0;
  std::vector<EndWithoutRule> ends_without_rule;  // Ends among the ignored alerts.
  std::vector<BadAlert> rejected;
  // kHeartbeatAlert fires and belongs to this cluster. has_foreign_heartbeat: it belongs to another
  // cluster, or names no cluster that the policy knows.
  bool has_heartbeat = false, has_foreign_heartbeat = false;

  [[nodiscard]] std::size_t count() const {  // Number of alerts.
    return signals.size() + ignored + rejected.size();
  }
};

// The rules for accepted alerts: the policy's `foreign_alerts` and `cluster`.
struct AlertRules {
  std::span<const ForeignAlertRule> foreign = {};  // For alerts without a remediation label.
  std::string_view cluster = {};                   // Alerts of other clusters are ignored.
  // True for alerts read from a Prometheus. Prometheus adds its external labels only when it sends,
  // so alerts without a cluster are its own.
  bool kept_by_prometheus = false;
};
[[nodiscard]] AlertRules alert_rules_of(const Policy& policy);

[[nodiscard]] AlertSignals to_signals(std::span<const Alert> alerts, const AlertRules& rules = {});

// Converts alerts one by one, with the rules of the policy at its construction.
class SignalCollector {
 public:
  explicit SignalCollector(const CurrentPolicy* policy);  // Null: no rules.
  void add(const Alert& alert);
  [[nodiscard]] AlertSignals take() { return std::move(collected_); }

 private:
  std::shared_ptr<const Policy> policy_;
  AlertRules rules_;
  std::size_t count_ = 0;
  AlertSignals collected_;
};

}  // namespace gpuward::remediator
