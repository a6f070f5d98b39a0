// Rules for the tests of two nodes (step nccl-pairs): when a replica may make a Job for one, and
// that their verdict on a machine is true. Part of the invariants.
#pragma once

#include "remediator/model/remediation.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class PairRules {
 public:
  explicit PairRules(const Stage& stage) : stage_(stage) {}

  // A replica has made a Job; returns its Remediation.
  [[nodiscard]] const Remediation& on_job_made(const Json& job, const std::string& what) const;
  // A replica has written a Remediation; `before` is null if it is new.
  void on_written(const Remediation* before, const Remediation& after) const;

 private:
  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
