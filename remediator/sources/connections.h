// Whether a finding of an exporter reaches a Remediation: how one replica of the remediator last
// saw each link of that chain (target, series, alert, webhook, record). page/connection_watch
// writes it as JSON into a ConfigMap; `gpuwardctl status`, `doctor` and the pages read it.
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

// An alert that always fires while gpuward works. Alertmanager sends it to the webhook too: a
// webhook that has not received it for kHeardWithin is disconnected.
inline constexpr std::string_view kHeartbeatAlert = "GpuwardDeadMansSwitch";
inline constexpr std::chrono::minutes kHeardWithin{45};
// Older facts do not describe the present.
inline constexpr std::chrono::minutes kFactsLast{5};

// An accepted notification and its sender.
struct WebhookCall {
  WallTime at{};
  std::string receiver, sender;  // Alertmanager's receiver and its external URL; may be empty
};

// The last call of each kind. Only the heartbeat of this cluster proves the path of its alerts.
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
  // Whether `has` may miss a name.
  [[nodiscard]] bool is_cut() const { return names.size() < count; }
};

// The lists contain only GPU nodes that have been in this cluster for some minutes. The first three
// contain no node that is new, leaves, is excluded, is not Ready, or has an open Remediation.
struct PrometheusFacts {
  std::string error = {};           // empty: it answered
  std::size_t targets = 0, up = 0;  // exporters with a label `node`
  std::size_t unnamed = 0;          // exporters without it: no rule counts them
  std::size_t other_jobs = 0;       // exporters under another job: no rule counts them either
  bool reads_remediator = false;    // it has series of a remediator
  bool heartbeat_fires = false;     // kHeartbeatAlert fires
  std::optional<std::size_t> alertmanagers = {};  // that it sends to; nullopt: unknown
  NamedNodes without_target = {}, down = {}, without_series = {};
  // With a severity of reset or worse, but without an alert.
  NamedNodes unalerted = {};
  // With a firing alert that is not silenced and is in no Remediation.
  NamedNodes unrecorded = {};
};

struct AlertmanagerFacts {
  std::string error = {};  // empty: it answered
};

// How far a machine's clock may be off.
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

// Returns the newest facts of several replicas, preferably of one whose Prometheus answers, with
// the last calls that any of them has accepted or refused. Ignores an entry from the future: it
// would be the newest for as long as its clock was ahead. Nullopt: there is none.
[[nodiscard]] std::optional<Connections> newest_of(const std::map<std::string, std::string>& texts,
                                                   WallTime now);

// Keeps the later one of each call.
void keep_later_calls(Connections& facts, const Connections& others);

}  // namespace gpuward::remediator
