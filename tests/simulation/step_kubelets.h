// The Job controller and the kubelets for the Jobs of one node (steps collect-evidence, gpu-reset,
// reboot and quarantine-job). Their pods start or never do, exit, never end, are lost with their
// node or by its restart, or pass their deadline; or an operator deletes the Job. A reset also
// changes the machine here.
#pragma once

#include <string>

#include "tests/simulation/call_rules.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class StepKubelets {
 public:
  StepKubelets(Stage& stage, Fleet& fleet, CallRules& calls)
      : stage_(stage), fleet_(fleet), calls_(calls) {}

  // Perhaps one of the running Jobs has a drawn event.
  void go_on();
  // Handles deadlines, pods of nodes that are gone, and Jobs whose Remediation is gone.
  void keep_house();
  // In the quiet time: every Job that can end ends as it should.
  void end_all();

 private:
  void go_on(JobTruth& job);
  void collect(JobTruth& job);
  void start(JobTruth& job, const Machine& machine);
  void wait_for_ever(JobTruth& job);
  void exit_by_itself(JobTruth& job, Machine& machine);
  void restart(JobTruth& job, Machine& machine);
  void exit(JobTruth& job, int code, const std::string& words, const std::string& reason = "Error");
  void fail(JobTruth& job, const std::string& reason);
  void remove(JobTruth& job, const std::string& why);
  void drop_pod(const JobTruth& job);
  void put_pod(const JobTruth& job, const Json& status);
  void say(const JobTruth& job, const std::string& what);

  Stage& stage_;
  Fleet& fleet_;
  CallRules& calls_;
};

}  // namespace gpuward::remediator::simulation
