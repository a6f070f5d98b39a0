// The two Jobs of a test of two nodes (`gpuward-exporter nccl-pair`): made once each, found again
// by their names, watched to their ends, and ended where nobody waits for them any more. Used by
// the step nccl-pairs, on behalf of the Remediation that leads the tests.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/actions/pair_record.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

// After that a test has told nothing: the program has 10 min, its Job 2 min more.
inline constexpr std::chrono::minutes kLongestPairTest{13};

// Any thread. `leader` is the order of the Remediation whose facts the test stands in, everywhere.
class PairJobs {
 public:
  // Both must outlive it.
  PairJobs(kube::Api& api, const CurrentPolicy& policy) : api_(api), policy_(policy) {}

  // Whether the Node is still the one that was seen; read for it.
  [[nodiscard]] Result<bool> is_there(const kube::Node& seen);
  // Makes the Job on `node`, which is one of the two; one that is there already is none the worse.
  // `address` is the first node's. is_final(): the Job cannot be made until somebody changes
  // something.
  [[nodiscard]] Status make(const StepRequest& leader, const PairTest& test, const kube::Node& node,
                            const std::string& address);
  // How the test goes on, once both are made. An error: it cannot be told now.
  [[nodiscard]] Result<PairTest> watch(const StepRequest& leader, PairTest test);
  // Deletes those of the two that are ours and have not ended. May be repeated.
  [[nodiscard]] Status end(const StepRequest& leader, const PairTest& test);

 private:
  kube::Api& api_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
