// Whether a finding of an exporter reaches a Remediation, as one replica of the remediator has last
// seen each link of that chain: target, series, alert, webhook, record. Written as JSON into a
// ConfigMap by page/connection_watch; read by `gpuwardctl status` and `doctor`, and by the pages.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/runtime/json_fwd.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The alert that always fires while gpuward works; Alertmanager sends it to the webhook too, so
// that a webhook without it for kHeardWithin is cut off.
inline constexpr std::string_view kHeartbeatAlert = "GpuwardDeadMansSwitch";
inline constexpr std::chrono::minutes kHeardWithin{45};
// Older facts say nothing of now.
inline constexpr std::chrono::minutes kFactsLast{5};

// A notification that was accepted, as it names its sender.
struct WebhookCall {
  WallTime at{};
  std::string receiver, sender;  // Alertmanager's receiver and its external URL; may be empty
};

// The last of each kind. Only the heartbeat of this cluster proves the path of its alerts.
struct WebhookCalls {
  std::optional<WebhookCall> any = {}, heartbeat = {};
  // With the label `cluster` of another cluster, or without the one that the policy names.
  std::optional<WebhookCall> foreign_heartbeat = {};
};

struct RefusedCall {
  WallTime at{};
  int status = 0;  // 401 or 403
};

// Names of nodes, sorted. The text of a ConfigMap is limited: at most kMostNamed of them.
struct NamedNodes {
  static constexpr std::size_t kMostNamed = 100;
  std::size_t count = 0;
  std::vector<std::string> names = {};

  void add(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const;
  // Whether `has` may miss one.
  [[nodiscard]] bool is_cut() const { return names.size() < count; }
};

// Each of the lists has GPU nodes of this cluster only, and of them only those that have been in it
// for some minutes; none that is new, leaves, is excluded, not Ready, or has an open Remediation is
// in the first three.
struct PrometheusFacts {
  std::string error = {};           // empty: it answered
  std::size_t targets = 0, up = 0;  // of the exporters that have a label `node`
  std::size_t unnamed = 0;          // exporters' targets without it: no rule counts them
  std::size_t other_jobs = 0;       // exporters under another job: no rule counts them either
  bool reads_remediator = false;    // it has series of a remediator
  bool heartbeat_fires = false;     // kHeartbeatAlert
  std::optional<std::size_t> alertmanagers = {};  // that it sends to; nullopt: it does not say
  NamedNodes without_target = {}, down = {}, without_series = {};
  // With a severity of reset or worse, and no alert.
  NamedNodes unalerted = {};
  // With a firing alert that is not silenced, and no Remediation that has it.
  NamedNodes unrecorded = {};
};

struct AlertmanagerFacts {
  std::string error = {};  // empty: it answered
};

// A machine's clock may be off by that.
inline constexpr std::chrono::minutes kClockOff{1};

struct Connections {
  std::string replica;
  WallTime at{};
  WebhookCalls calls = {};
  std::optional<RefusedCall> refused = {};
  bool reads_alerts = false;                           // --prometheus.alerts
  std::optional<PrometheusFacts> prometheus = {};      // nullopt: --prometheus.url is not set
  std::optional<AlertmanagerFacts> alertmanager = {};  // nullopt: --alertmanager.url is not set
};

[[nodiscard]] Json to_json(const Connections& connections);
// A member that is missing or has another type counts as never seen.
[[nodiscard]] Connections connections_of(const Json& json);

// The newest facts of several replicas, of one whose Prometheus answers if there is one, with the
// last calls that any of them has accepted or refused. An entry of the future is left out: it would
// be the newest for as long as its clock was ahead. Nullopt: there is none.
[[nodiscard]] std::optional<Connections> newest_of(const std::map<std::string, std::string>& texts,
                                                   WallTime now);

// Keeps of each call the later one.
void keep_later_calls(Connections& facts, const Connections& others);

}  // namespace gpuward::remediator
