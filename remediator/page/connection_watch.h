// Checks regularly whether a finding would reach a Remediation, and publishes the result in a
// ConfigMap with one entry for each replica, for gpuwardctl and the pages. Each replica does that
// on its own thread, because each has a webhook.
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
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/sources/connection_probe.h"
#include "remediator/sources/connections.h"

namespace gpuward::remediator {

inline constexpr const char* kSourcesMap = "gpuward-sources";

// All references must outlive the watch.
struct ConnectionParts {
  ConnectionProbe probe;
  bool reads_alerts = false;  // --prometheus.alerts
  std::function<WebhookCalls()> calls;
  // Longer than rules, notifications and the polling of alerts take.
  std::chrono::milliseconds lasting{180'000};
  const CurrentPolicy& policy;
  const ClusterView& view;
  // Not fenced, because a replica that does not lead writes too. With a short deadline.
  kube::Api& api;
  std::string state_namespace;
  std::string replica;  // a key of a ConfigMap
  Clock& clock;
  Log& log;
};

class ConnectionWatch {
 public:
  explicit ConnectionWatch(ConnectionParts parts) : parts_(std::move(parts)) {}

  // Starts the thread; the destructor stops and joins it.
  void start();
  void request_stop() { thread_.request_stop(); }
  // Thread-safe. Notes that the webhook has answered a request with that status; 401 and 403 are
  // kept.
  void note_answer(int status);
  // Checks once and publishes the result, once the view has the nodes. For the thread, or for a
  // test that has not started it. Returns the error of the API server; the next check follows
  // anyway.
  [[nodiscard]] Status look();

 private:
  using Since = std::map<std::string, Clock::Steady, std::less<>>;  // by node

  [[nodiscard]] std::optional<PrometheusFacts> ask_prometheus(
      const std::set<std::string>& silenced);
  void judge(const FleetSeries& series, const std::set<std::string>& silenced,
             PrometheusFacts& facts);
  // Publishes bad facts only once they have lasted, so that a restart of Prometheus, a rollout or a
  // change of leader does not count.
  [[nodiscard]] PrometheusFacts settled(PrometheusFacts facts);
  // Returns the `nodes` that have been in it for that long.
  [[nodiscard]] NamedNodes lasting(const std::set<std::string>& nodes, Since& since,
                                   std::chrono::milliseconds for_time) const;
  [[nodiscard]] Status publish(const Connections& facts);
  [[nodiscard]] Status write(Connections facts);

  ConnectionParts parts_;
  // Used only by the thread.
  Since without_target_, down_, without_series_, unalerted_, unrecorded_;
  std::optional<PrometheusFacts> last_good_;
  Clock::Steady good_at_{};
  std::string written_;  // without times and counts
  Clock::Steady write_again_{};
  std::string said_;  // the last error in the log
  std::mutex mutex_;
  std::optional<RefusedCall> refused_;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
