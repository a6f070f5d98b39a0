// GPU nodes that Karpenter makes for pods: Karpenter with its kwok provider, a real control plane
// with its controllers and scheduler, and the real gpuward-remediator. One thread plays the rest in
// turns: the kubelets, a Prometheus with the exporters' reports, and an Alertmanager.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "core/model/severity.h"
#include "core/runtime/json.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/plane_hands.h"

namespace gpuward::remediator {

struct KarpenterOptions {
  std::string disruption;  // the NodePool's, as YAML: what Karpenter may disrupt by itself
  bool repairs = false;    // Karpenter's node repair
  std::string policy;      // gpuward's, besides mode and startup_grace
};

class KarpenterFleet {
 public:
  // Empty if all its parts are on this machine. For GPUWARD_REQUIRE.
  [[nodiscard]] static std::string why_unavailable();
  // Starts two nodes with one GPU and one pod each, and the remediator, which listens.
  explicit KarpenterFleet(const KarpenterOptions& options);

  // Plays until `is_reached`; returns false if that takes too long.
  [[nodiscard]] bool play_until(const std::function<bool()>& is_reached,
                                std::chrono::seconds limit = support::kGenerous);
  // The exporter of the node reports that severity, and an alert with it fires.
  void break_gpu(const std::string& node, Severity severity);
  // The kubelet reports the condition, since that time.
  void report_unhealthy(const std::string& node, std::chrono::minutes since);
  // A PodDisruptionBudget forbids every eviction.
  void forbid_evictions();
  void annotate(const std::string& node, const std::string& annotation);
  // Approves as an operator does.
  void approve(const std::string& node);

  [[nodiscard]] std::vector<std::string> nodes();  // Karpenter's nodes that run a pod
  [[nodiscard]] bool has_node(const std::string& node);
  [[nodiscard]] Json status(const std::string& node);  // of its Remediation
  [[nodiscard]] std::string phase(const std::string& node);
  [[nodiscard]] std::string message(const std::string& node);
  [[nodiscard]] std::size_t pods_on(const std::string& node);
  [[nodiscard]] std::string node_claim_of(const std::string& node);  // its name
  [[nodiscard]] bool has_node_claim(const std::string& name);
  // The logs of the remediator and of Karpenter, for a test that fails.
  [[nodiscard]] std::string logs() const;

 private:
  void start_karpenter(const KarpenterOptions& options);
  void start_scheduler();
  void start_remediator(const KarpenterOptions& options);
  void kubectl(std::vector<std::string> words, const std::string& input = {});
  void turn();
  void run_kubelet_of(const Json& node);
  void run_pods();
  void tell_alerts();
  [[nodiscard]] int webhook_port() const;
  [[nodiscard]] http::Response answer_query(const http::Request& request);

  struct Alert {
    Severity severity = Severity::kNone;
    std::string since, fingerprint;
    bool is_told = false;
  };

  support::TempDir folder_;
  std::unique_ptr<PlaneHands> hands_;
  std::unique_ptr<support::Process> karpenter_, scheduler_, remediator_;
  std::mutex mutex_;
  std::map<std::string, Alert> alerts_;  // by node
  std::map<std::string, std::chrono::minutes> unhealthy_;
  std::map<std::string, std::chrono::steady_clock::time_point> heartbeats_;
  std::unique_ptr<http::Server> prometheus_;
};

}  // namespace gpuward::remediator
