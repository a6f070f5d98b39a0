// Checks regularly whether a finding would reach a Remediation, and publishes the result in a
// ConfigMap for gpuwardctl and the pages. Each replica has its own entry and its own thread,
// because each replica has a webhook.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/inbox/sources/connection_probe.h"
#include "remediator/inbox/sources/connections.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

inline constexpr const char* kSourcesMap = "gpuward-sources";

// The arguments must outlive the watch.
struct ConnectionParts {
  ConnectionProbe probe;
  bool reads_alerts = false;  // --prometheus.alerts
  std::function<WebhookCalls()> calls;
  // How long a fault must last before it is published. It is longer than rules, notifications and
  // the polling of alerts take.
  std::chrono::milliseconds lasting{180'000};
  const CurrentPolicy& policy;
  const ClusterView& view;
  // Needs a short deadline and no fence, because a replica that does not lead writes too.
  kube::Api& api;
  std::string state_namespace;
  std::string replica;  // Key of this replica in the ConfigMap.
  Clock& clock;
  Log& log;
};

class ConnectionWatch {
 public:
  explicit ConnectionWatch(ConnectionParts parts) : parts_(std::move(parts)) {}

  // Starts the thread; the destructor stops and joins it.
  void start();
  void request_stop() { thread_.request_stop(); }
  // Notes the status of the webhook's answer; 401 and 403 are kept. Thread-safe.
  void note_answer(int status);
  // Checks once, and publishes the result once the view has the nodes. Called by the thread, or by
  // a test that has not started it. Returns the error of the API server; the next check follows
  // anyway.
  [[nodiscard]] Status look();

 private:
  using Since = std::map<std::string, Clock::Steady, std::less<>>;  // By node.

  [[nodiscard]] std::optional<PrometheusFacts> ask_prometheus(
      const std::set<std::string>& silenced);
  void judge(const FleetSeries& series, const std::set<std::string>& silenced,
             PrometheusFacts& facts);
  // Returns the facts without faults that have not lasted yet, so that a restart of Prometheus, a
  // rollout or a change of leader does not count.
  [[nodiscard]] PrometheusFacts settled(PrometheusFacts facts);
  // Returns the `nodes` that have been in `since` for at least `for_time`.
  [[nodiscard]] NamedNodes lasting(const std::set<std::string>& nodes, Since& since,
                                   std::chrono::milliseconds for_time) const;
  [[nodiscard]] Status publish(const Connections& facts);
  [[nodiscard]] Status write(Connections facts);

  ConnectionParts parts_;
  // Used by the thread only.
  Since without_target_, down_, without_series_, unalerted_, unrecorded_;
  std::optional<PrometheusFacts> last_good_;
  Clock::Steady good_at_{};
  std::string written_;  // The last published text, without times and counts.
  Clock::Steady write_again_{};
  std::string said_;  // The last error in the log.
  std::mutex mutex_;
  std::optional<RefusedCall> refused_;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
