// A whole remediation seen from outside: the real gpuward-remediator, a cluster with one bad node
// and pods on it, a Prometheus, a machine that restarts when its program is called, a kubelet, an
// Alertmanager that repeats itself. One thread plays all but the program, turn by turn.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/cluster_hands.h"
#include "tests/unit/remediator/peer.h"

namespace gpuward::remediator {

inline constexpr const char* kStageNode = "gpu-01";
inline constexpr const char* kStageNodePath = "/api/v1/nodes/gpu-01";
inline constexpr const char* kStagePods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kStageRemediations = "/apis/gpuward.dev/v1alpha1/remediations";

struct StageOptions {
  std::string plan =
      "[taint, cordon, drain, reboot: {timeout: 60s}, verify: {soak: 0s}, return-to-service]";
  std::string severity = "reboot";  // of the fault and of the plan
  std::string more_policy = {};     // further sections
  std::string policy = {};          // if set, replaces all of these
  std::string machine = "exit 0";   // its program's last command, after it has recorded the call
  bool machine_restarts = true;     // when its program is called
  std::string provider_id = {};     // of the node; empty: the one of ready_node()
  std::map<std::string, std::string> environment = {};  // of the program, added to that of the test
  std::size_t pods = 3;                                 // of a ReplicaSet, with the label app=work
};

class RemediationStage {
 public:
  // Puts node, pods and switch into the cluster. `hands` must outlive this object, and its cluster
  // must have the Remediation resource and the namespace gpuward.
  explicit RemediationStage(ClusterHands& hands, StageOptions options = {});

  // --- The program. start() returns when the program listens, and throws if it does not.
  void start();
  [[nodiscard]] bool runs() const { return process_ && process_->running(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void kill_process();
  // Starts a new process after one that is dead. It does not have to wait for the lease's end.
  void start_anew();
  // Runs a command of an operator.
  [[nodiscard]] support::Process::Outcome say(std::vector<std::string> words);
  [[nodiscard]] std::string log() const { return process_ ? process_->error_output() : ""; }

  // --- The other parts. turn() lets each of them act once. play_until() returns false if `limit`
  // passes before `is_reached`.
  void turn();
  [[nodiscard]] bool play_until(const std::function<bool()>& is_reached,
                                std::chrono::seconds limit = support::kGenerous);
  void report_severity(int severity) { severity_ = severity; }
  void end_alert() {
    if (fires_) fires_ = is_told_ = false;
  }
  void set_stop(const std::string& value);
  // Kubelets that do nothing leave pods Terminating.
  void let_kubelet_work(bool works) { kubelet_works_ = works; }
  void let_machine_restart(bool restarts) { machine_restarts_ = restarts; }

  // --- The state of the cluster
  [[nodiscard]] Json remediation();  // null if there is none yet
  [[nodiscard]] Json status();
  [[nodiscard]] std::string phase();
  [[nodiscard]] std::string rule();
  [[nodiscard]] std::string message();
  [[nodiscard]] Json step(const std::string& name);
  [[nodiscard]] Json node();
  [[nodiscard]] bool is_cordoned();
  [[nodiscard]] bool is_tainted();
  [[nodiscard]] std::vector<std::string> pods();  // names, without the daemon's
  [[nodiscard]] std::vector<Json> calls() const;  // the input of each call of the machine's program
  // The pods that were still on the node at the first call of the machine's program.
  [[nodiscard]] const std::vector<std::string>& pods_at_first_call() const { return at_call_; }
  [[nodiscard]] std::size_t slots_held();  // in the ledger
  // Returns "" if the node still has all state of other programs, otherwise the first that is
  // missing.
  [[nodiscard]] std::string lost_foreign_state();

 private:
  void write_policy(const StageOptions& options);
  void put_node(const std::string& provider_id);
  void put_pods(std::size_t count);
  void put_pod(const std::string& name, const std::string& owner_kind);
  void end_terminating_pods();
  void run_machine();
  void repeat_alert();
  [[nodiscard]] int webhook_port() const;
  [[nodiscard]] std::string boot_id() const;
  [[nodiscard]] std::string report() const;

  ClusterHands& hands_;
  support::TempDir folder_;
  std::string kubeconfig_, fired_at_, alerted_;
  std::map<std::string, std::string> environment_;
  std::atomic<int> severity_;
  std::atomic<std::size_t> restarts_{0};
  Peer prometheus_{"/api/v1/query", [this] { return report(); }};
  std::unique_ptr<support::Process> process_;
  std::atomic<pid_t> pid_{0};
  bool machine_restarts_, kubelet_works_ = true, fires_ = true, is_told_ = false;
  std::vector<std::string> at_call_;
};

}  // namespace gpuward::remediator
