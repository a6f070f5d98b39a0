// `gpuward-exporter quarantine`: the long diagnostics on one node that somebody has cordoned, run
// on the node itself by a Job; says on the node what came of it and what to do. Neither cordons,
// uncordons, untaints nor replaces.
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

// What checks 4 and 6 say about a node in quarantine, and what to do with it. Pure; used by
// Quarantine, read from the node by operators, by the remediator and by the node's agent.
struct QuarantineResult {
  NodeStatus status = NodeStatus::kWarn;
  Severity severity = Severity::kMonitor;
  // "return-to-service" only for a node that the diagnostic has passed, "replace" only for one that
  // must be isolated, "investigate" for all else.
  std::string recommendation;
  std::string next;  // for people: the next step by the flow of severities
};

// `results`: of check 4, and of check 6 where it was run. A node whose check 4 did not run has not
// passed.
[[nodiscard]] QuarantineResult judge_quarantine(const std::vector<CheckResult>& results);

// The annotation quarantine-result.
[[nodiscard]] std::string quarantine_result(const QuarantineResult& verdict,
                                            const std::vector<CheckResult>& results,
                                            std::string_view node, WallTime now);

struct QuarantineOptions {
  std::string node;   // NODE_NAME
  std::string owner;  // unlike any other run's: the pod's name and the time
  // The folder in which the node's exporter learns of repairs (--state.path).
  std::filesystem::path state_folder;
  // Longer than all of it can take, as the Job's own limit: then the claim on the node runs out.
  std::chrono::milliseconds limit = std::chrono::hours(5);
  // For how long to try to say what came of hours of diagnostics.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  bool writes_labels = true;      // ENABLE_LABEL
  bool needs_cordon = true;       // false: the caller vouches that nothing runs there
  std::vector<int> checks{4, 6};  // in this order; of 4, 5 and 6
  // A pass takes away also what else only an operator clears, such as an Xid in the log.
  bool clears_latched = false;
};

// Runs one check, by number, to its end or until the stop. kBlocked ends the quarantine.
using RunCheck = std::function<Result<CheckResult>(int number, const std::stop_token& stop)>;

// Why a quarantine does not begin, or ends: this label asks for the GPUs. kBlocked.
[[nodiscard]] Error blocked_by(const std::string& label);

class Quarantine {
 public:
  // `api` without a stop of its own, so that the mode label can be taken off after one. All must
  // outlive it.
  Quarantine(QuarantineOptions options, kube::Api& api, Clock& clock, Log& log);

  // Blocks for hours. kRefused: the node is not cordoned, or another run has it. kBlocked: a label
  // of the node asks for its GPUs (asking_label.h), at the start or before the last check has
  // ended. kCancelled: the stop came first. After any of them the node is as before. Returns the
  // verdict even if it could not be written. A pass clears the findings of the node's exporter that
  // diagnostics clear.
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
