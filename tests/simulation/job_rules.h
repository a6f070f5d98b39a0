// Rules for the Jobs of one node (steps collect-evidence, gpu-reset, quarantine-job): when a
// replica may make one, that none is left behind, and what their results may lead to. Part of the
// invariants.
#pragma once

#include <map>
#include <string>

#include "remediator/model/remediation.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class JobRules {
 public:
  explicit JobRules(Stage& stage) : stage_(stage) {}

  // A replica has made a Job of that step.
  void on_made(const Json& job, Step step);
  // A replica has written an existing Remediation.
  void on_written(const Remediation& before, const Remediation& after);
  // A replica returns its node; no failed diagnostics forbid that.
  void check_returned(const Remediation& owner, const kube::Node& node) const;

 private:
  [[nodiscard]] bool is_intended(const Remediation& owner, Step step) const;
  [[nodiscard]] bool was_deleted_since_read(const std::string& remediation) const;
  void check_asked(const std::string& remediation, Step step, const std::string& what) const;
  void check_reset(const Remediation& owner, const std::string& what) const;
  void check_left(const Remediation& of, std::optional<Step> but, const std::string& when) const;
  void check_earlier_nodes(const Remediation& owner, const kube::Node& node) const;
  void check_escalation(const Remediation& before, const Remediation& after) const;

  Stage& stage_;
  // By Remediation and step: the last intent or call, and when an intent was withdrawn.
  std::map<std::string, Tick> intended_, withdrawn_;
};

}  // namespace gpuward::remediator::simulation
