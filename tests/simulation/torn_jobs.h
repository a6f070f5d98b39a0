// Jobs that lose pods through drains, in some simulations, and all that happens to them: by the
// step restart-job, by their controller and by their owners. Its rules say what the step may do to
// a job, and that it leaves none suspended. Has its own chance, so that the other simulations stay
// as they are.
#pragma once

#include <map>
#include <set>
#include <string>

#include "remediator/act/actions/step_action.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Draws, before anything happens, whether there are such jobs, and puts the step into a policy's
// plans.
void let_jobs_be_torn(Setting& setting, Chance& chance);
void put_restarts(Policy& policy);

// How a sabotage bends a job that a replica reads.
void bend_torn_job(const Stage& stage, Json& job);

class TornJobs {
 public:
  TornJobs(Stage& stage, Invariants& invariants);

  // Plays their controller, and perhaps one of their owners.
  void go_on();
  // The controller does all that it has to do.
  void end_all();
  // The drain for a Remediation is done: returns the jobs that lost a pod through it.
  [[nodiscard]] std::string tear();
  // Called at rest.
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
  std::set<std::string> restarted_;   // by the job's UID and the Remediation
  int pods_made_ = 0, restores_ = 0;
};

// A step that resumes nothing when it is abandoned.
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
