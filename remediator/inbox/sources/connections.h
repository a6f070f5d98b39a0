// Whether a finding of an exporter reaches a Remediation: how one replica of the remediator last
// saw each link of that chain (target, series, alert, webhook, record). inbox/connection_watch
// writes the facts as JSON into a ConfigMap. `gpuwardctl status`, `doctor` and the pages read them.
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

// An alert that always fires while gpuward works. Alertmanager also sends it to the webhook. A
// webhook that has not received it for kHeardWithin counts as disconnected.
inline constexpr std::string_view kHeartbeatAlert = "GpuwardDeadMansSwitch";
inline constexpr std::chrono::minutes kHeardWithin{45};
// How long facts are valid; older facts do not describe the present.
inline constexpr std::chrono::minutes kFactsLast{5};

// An accepted notification and its sender.
struct WebhookCall {
  WallTime at{};
  std::string receiver, sender;  // Alertmanager's receiver and its external URL; may be empty.
};

// The last call of each kind. Only the heartbeat of this cluster proves the path of its alerts.
struct WebhookCalls {
  std::optional<WebhookCall> any = {}, heartbeat = {};
  // A heartbeat with the label `cluster` of another cluster, or without the label that the policy
  // requires.
  std::optional<WebhookCall> foreign_heartbeat = {};
};

struct RefusedCall {
  WallTime at{};
  int status = 0;  // 401 or 403
};

// Names of nodes, sorted; at most kMostNamed, because the text of a ConfigMap is limited.
struct NamedNodes {
  static constexpr std::size_t kMostNamed = 100;
  std::size_t count = 0;
  std::vector<std::string> names = {};

  void add(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const;
  // Returns whether names are missing, so that has() may return a wrong false.
  [[nodiscard]] bool is_cut() const { return names.size() < count; }
};

// Prometheus' view of the fleet. The lists contain only GPU nodes that have been in this cluster
// for some minutes. without_target, down and without_series contain no node that is new, leaves, is
// excluded, is not Ready, or has an open Remediation.
struct PrometheusFacts {
  std::string error = {};           // Empty if Prometheus answered.
  std::size_t targets = 0, up = 0;  // Exporters with a label `node`.
  std::size_t unnamed = 0;          // Exporters without the label `node`; no rule counts them.
  std::size_t other_jobs = 0;       // Exporters under another job; no rule counts them.
  bool reads_remediator = false;    // Prometheus has series of a remediator.
  bool heartbeat_fires = false;     // kHeartbeatAlert fires
  // Number of Alertmanagers that Prometheus sends to; nullopt: unknown.
  std::optional<std::size_t> alertmanagers = {};
  NamedNodes without_target = {}, down = {}, without_series = {};
  // Nodes with a severity of reset or worse, but without an alert.
  NamedNodes unalerted = {};
  // Nodes with a firing alert that is not silenced and is in no Remediation.
  NamedNodes unrecorded = {};
};

struct AlertmanagerFacts {
  std::string error = {};  // Empty if Alertmanager answered.
};

// Largest accepted error of a machine's clock.
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
// Reads the facts. A member that is missing or has another type counts as never seen.
[[nodiscard]] Connections connections_of(const Json& json);

// Returns the newest facts of several replicas; nullopt if there are none. Prefers a replica with
// an answering Prometheus, and adds the last calls that any replica has accepted or refused.
// Ignores entries from the future, because such an entry would stay the newest until its time has
// passed.
[[nodiscard]] std::optional<Connections> newest_of(const std::map<std::string, std::string>& texts,
                                                   WallTime now);

// Keeps the later call of each kind in `facts`.
void keep_later_calls(Connections& facts, const Connections& others);

}  // namespace gpuward::remediator
