// `gpuward-exporter quarantine`: the long diagnostics on one cordoned node, run on the node itself
// by a Job. It writes the result and a recommendation to the node, but never cordons, uncordons,
// untaints or replaces it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "core/model/check_result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

// The verdict of checks 4 and 6 on a node in quarantine, and the recommendation. Pure; used by
// Quarantine, and read from the node by operators, the remediator and the node's agent.
struct QuarantineResult {
  NodeStatus status = NodeStatus::kWarn;
  Severity severity = Severity::kMonitor;
  // "return-to-service" only for a node that has passed the diagnostic, "replace" only for one that
  // must be isolated, "investigate" for all others.
  std::string recommendation;
  std::string next;  // for people: the next step by the flow of severities
};

// `results`: of check 4, and of check 6 if it was run. A node has not passed unless check 4 ran.
[[nodiscard]] QuarantineResult judge_quarantine(const std::vector<CheckResult>& results);

// Returns the value of the annotation quarantine-result.
[[nodiscard]] std::string quarantine_result(const QuarantineResult& verdict,
                                            const std::vector<CheckResult>& results,
                                            std::string_view node, WallTime now);

struct QuarantineOptions {
  std::string node;   // NODE_NAME
  std::string owner;  // unique to this run: the pod's name and the time
  // The state folder of the node's exporter, for the requests to clear findings (--state.path).
  std::filesystem::path state_folder;
  // Longer than the whole run can take, like the Job's own limit: then the claim expires.
  std::chrono::milliseconds limit = std::chrono::hours(5);
  // How long to retry the report of a result that took hours.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  bool writes_labels = true;      // ENABLE_LABEL
  bool needs_cordon = true;       // false: the caller guarantees that nothing runs there
  std::vector<int> checks{4, 6};  // in this order; of 4, 5 and 6
  // A pass also clears the findings that otherwise only an operator clears, such as an Xid in the
  // log.
  bool clears_latched = false;
};

// Runs one check, by number, until it ends or is stopped. kBlocked ends the quarantine.
using RunCheck = std::function<Result<CheckResult>(int number, const std::stop_token& stop)>;

// Returns the reason why a quarantine does not start, or ends: this label asks for the GPUs.
// kBlocked.
[[nodiscard]] Error blocked_by(const std::string& label);

class Quarantine {
 public:
  // `api` must not end with the stop, so that the mode label can be removed after one. All must
  // outlive it.
  Quarantine(QuarantineOptions options, kube::Api& api, Clock& clock, Log& log);

  // Blocks for hours. kRefused: the node is not cordoned, or another run has it. kBlocked: a label
  // of the node asks for its GPUs (asking_label.h), at the start or before the last check has
  // ended. kCancelled: a stop came first. After any of these errors the node is as before. Returns
  // the verdict even if it could not be written. A pass clears the findings of the node's exporter
  // that diagnostics clear.
  [[nodiscard]] Result<QuarantineResult> run(const RunCheck& run_check,
                                             const std::stop_token& stop);

 private:
  [[nodiscard]] Status claim();
  [[nodiscard]] bool runs_diagnostic() const;  // of DCGM
  [[nodiscard]] Status may_have(const kube::Node& node) const;
  [[nodiscard]] Result<std::vector<CheckResult>> run_checks(const RunCheck& run_check,
                                                            const std::stop_token& stop);
  void clear_findings(WallTime began);
  [[nodiscard]] Status publish(const QuarantineResult& verdict,
                               const std::vector<CheckResult>& results);
  [[nodiscard]] Status release();

  const QuarantineOptions options_;
  kube::Api& api_;
  Clock& clock_;
  Log& log_;
  std::string uid_;
};

}  // namespace gpuward::exporter
