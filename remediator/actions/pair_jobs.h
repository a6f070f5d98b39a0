// The two Jobs of a test of two nodes (`gpuward-exporter nccl-pair`): creates each once, finds it
// again by its name, watches it to its end, and ends it if it is no longer needed. Used by the step
// nccl-pairs, on behalf of the Remediation that leads the tests.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/actions/pair_record.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

// A test that takes longer has no result: the program has 10 min, its Job 2 min more.
inline constexpr std::chrono::minutes kLongestPairTest{13};

// Thread-safe. `leader` is always the request of the Remediation whose facts have the test.
class PairJobs {
 public:
  // Both must outlive it.
  PairJobs(kube::Api& api, const CurrentPolicy& policy) : api_(api), policy_(policy) {}

  // Whether the Node is still the one in `seen`, by a new read.
  [[nodiscard]] Result<bool> is_there(const kube::Node& seen);
  // Creates the Job on `node`, one of the two; succeeds if it already exists. `address` is the
  // first node's. If an error is_final(), the Job cannot be created until its cause is fixed.
  [[nodiscard]] Status make(const StepRequest& leader, const PairTest& test, const kube::Node& node,
                            const std::string& address);
  // Returns the test with its current result, once both Jobs are created. An error: unknown for
  // now.
  [[nodiscard]] Result<PairTest> watch(const StepRequest& leader, PairTest test);
  // Deletes those of the two that belong to this step and have not ended. May be repeated.
  [[nodiscard]] Status end(const StepRequest& leader, const PairTest& test);

 private:
  kube::Api& api_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
