// What an Alertmanager says, as plain values, and what it asks for: the body of a webhook (payload
// version 4, as sent by 0.25 to 0.34) and the answer of /api/v2/alerts become alerts, and alerts
// become alert signals about nodes. Strict about what we read and about sizes, deaf to fields that
// newer versions add. One bad alert never costs the others: it is set aside with its number and the
// reason. Pure; used by all that reads alerts.
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
  bool is_suppressed =
      false;  // silenced or inhibited, as the API says; a webhook says none of those
  std::map<std::string, std::string> labels;
  std::chrono::system_clock::time_point starts_at;
  std::chrono::system_clock::time_point ends_at;  // means something for a resolved alert only
  std::string fingerprint;                        // made from the labels where the sender gave none
};

// What a notification says beside its alerts.
struct Notification {
  std::string group_key;
  std::uint64_t truncated_alerts = 0;  // how many more there are that only the API knows
  // Who sends it, as it says itself; valid UTF-8, 256 bytes at most; a URL without credentials.
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

// What Alertmanager itself calls an alert of these labels: its FNV-1a over them, in order.
[[nodiscard]] std::string fingerprint_of(const std::map<std::string, std::string>& labels);

// Calls `on_alert` with each alert while it reads the body, in order, and keeps none. If the result
// is an error, the whole body is refused, and the alerts before the fault do not count either.
//
// kInvalid with the place of the fault (`alerts[3].labels.node: expected a string`), kTooLarge over
// a cap. No value of the sender is repeated: the answer ends in a log.
[[nodiscard]] Result<Notification> decode_notification(std::string_view body,
                                                       const PayloadLimits& limits,
                                                       const std::function<void(Alert)>& on_alert);

// The answer of GET /api/v2/alerts: alerts that fire, same limits.
[[nodiscard]] Result<std::vector<Alert>> decode_active_alerts(std::string_view body,
                                                              const PayloadLimits& limits = {});

struct BadAlert {
  std::size_t index = 0;  // in the payload
  std::string what;       // never repeats the sender's values
};

// The end of an alert that no rule has, or no rule has any more.
struct EndWithoutRule {
  std::string fingerprint;
  WallTime starts_at, ends_at;
};

struct AlertSignals {
  std::vector<AlertSignal> signals;
  std::size_t ignored = 0;  // neither a `remediation` label nor a rule, or of another cluster
  std::vector<EndWithoutRule> ends_without_rule;  // of the ignored ones
  std::vector<BadAlert> rejected;
  // kHeartbeatAlert fires in it, and is of this cluster; or of another one, or of none that the
  // policy knows.
  bool has_heartbeat = false, has_foreign_heartbeat = false;

  [[nodiscard]] std::size_t count() const {  // of the alerts
    return signals.size() + ignored + rejected.size();
  }
};

// Which alerts are taken, and as what: the policy's `foreign_alerts` and `cluster`.
struct AlertRules {
  std::span<const ForeignAlertRule> foreign = {};  // for alerts that ask for nothing themselves
  std::string_view cluster = {};                   // alerts of others are ignored
  // As a Prometheus keeps them, which adds its external labels only to what it sends: those that
  // name no cluster are its own.
  bool kept_by_prometheus = false;
};
[[nodiscard]] AlertRules alert_rules_of(const Policy& policy);

[[nodiscard]] AlertSignals to_signals(std::span<const Alert> alerts, const AlertRules& rules = {});

// The same, alert by alert, with the rules of the policy that was in force when it was made.
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
