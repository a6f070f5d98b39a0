// Jobs that lose pods by drains, in some simulations, and what is done to them: by the step
// restart-job, by their controller and by their owners. What the step may do to a job, and that it
// leaves none suspended, are rules here. With chance of its own, so that the other simulations stay
// as they are.
#pragma once

#include <map>
#include <set>
#include <string>

#include "remediator/actions/step_action.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Whether there are such jobs, drawn before anything happens, and the step in a policy's plans.
void let_jobs_be_torn(Setting& setting, Chance& chance);
void put_restarts(Policy& policy);

// How a sabotage bends what a replica reads of a job.
void bend_torn_job(const Stage& stage, Json& job);

class TornJobs {
 public:
  TornJobs(Stage& stage, Invariants& invariants);

  // Their controller, and perhaps one of their owners.
  void go_on();
  // The controller has done all that it has to do.
  void end_all();
  // A drain for that Remediation is done: the jobs that have lost a pod by it.
  [[nodiscard]] std::string tear();
  // Once all is at rest.
  void check_rest() const;

 private:
  [[nodiscard]] bool read_anew();
  void make(const std::string& name);
  void play_controller(const std::string& name);
  void play_owner(const std::string& name);
  void add_pod(const std::string& job);
  void patch(const std::string& name, const Json& patch);
  void on_patched(const Json& after);
  void on_suspended(const Json& before, const Json& after);
  void check_left(const std::string& remediation, const std::string& when) const;

  Stage& stage_;
  Invariants& invariants_;
  std::map<std::string, Json> jobs_;  // as they really are
  std::set<std::string> restarted_;   // by the UID of a job and the Remediation
  int pods_made_ = 0, restores_ = 0;
};

// A step that gives nothing back where it is left.
class KeepsJobs final : public StepAction {
 public:
  KeepsJobs(const Stage& stage, StepAction& step) : stage_(stage), step_(step) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& order) override {
    return step_.begin(order);
  }
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& order) override {
    return step_.watch(order);
  }
  [[nodiscard]] Status abandon(const StepRequest& order) override {
    return stage_.is_off(Sabotage::kGiveBack) ? Status() : step_.abandon(order);
  }

 private:
  const Stage& stage_;
  StepAction& step_;
};

}  // namespace gpuward::remediator::simulation
