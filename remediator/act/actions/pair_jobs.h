// The two Jobs of a test of two nodes (`gpuward-exporter nccl-pair`). Creates each Job once, finds
// it again by its name, watches it, and deletes it when nobody needs it any more. Used by the step
// nccl-pairs for the Remediation that leads the tests.
#pragma once

#include <chrono>

#include "core/kube/api.h"
#include "remediator/act/actions/pair_record.h"
#include "remediator/act/actions/step_action.h"

namespace gpuward::remediator {

// The longest duration of a test. After it the test has no result. The program has 10 min, its Job
// 2 min more.
inline constexpr std::chrono::minutes kLongestPairTest{13};

// Manages the Jobs of the tests. Thread-safe. `leader` is always the request of the Remediation
// that has the test in its facts.
class PairJobs {
 public:
  // The arguments must outlive this object.
  PairJobs(kube::Api& api, const CurrentPolicy& policy) : api_(api), policy_(policy) {}

  // Reads the Node again, and returns whether it still has the UID of `seen`.
  [[nodiscard]] Result<bool> is_there(const kube::Node& seen);
  // Creates the Job on `node`, one of the two nodes of the test. Succeeds if the Job already
  // exists. `address` is the address of the first node. If is_final() is true for an error, the Job
  // cannot be created until an operator fixes the cause.
  [[nodiscard]] Status make(const StepRequest& leader, const PairTest& test, const kube::Node& node,
                            const std::string& address);
  // Returns the test with its current result, once both Jobs are created. After an error the result
  // is unknown; the caller asks again.
  [[nodiscard]] Result<PairTest> watch(const StepRequest& leader, PairTest test);
  // Deletes the test's Jobs that belong to this step and have not ended. May be repeated.
  [[nodiscard]] Status end(const StepRequest& leader, const PairTest& test);

 private:
  kube::Api& api_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
