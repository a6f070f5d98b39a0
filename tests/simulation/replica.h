// One process of the remediator, made of the product's own parts: what it keeps in memory dies with
// it. The informers and the queue's workers are played by the scheduler, one call at a time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/kube/api.h"
#include "remediator/workflow/reconciler.h"
#include "remediator/workflow/remediation_intake.h"
#include "tests/simulation/wire.h"

namespace gpuward::remediator::simulation {

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

// What people have been told, over the lives of all replicas.
class Told final : public Announcer {
 public:
  explicit Told(Stage& stage) : stage_(stage) {}
  void announce(kube::NodeEvent) override {}
  [[nodiscard]] Status tell(const kube::NodeEvent& event) override;
  // Whether anybody was ever told that this Remediation is in this phase.
  [[nodiscard]] bool knows(const std::string& remediation, Phase phase) const {
    return said_.contains({remediation, "Gpuward" + std::string(to_string(phase))});
  }

 private:
  Stage& stage_;
  std::set<std::pair<std::string, std::string>> said_;  // Remediation and reason
};

class Silence final : public WorkflowObserver {
 public:
  void on_audit(const AuditRecord&) override {}
  void on_error(const std::string&, const Error&) override {}
};

// What all replicas use of the world outside.
struct Outside {
  HealthReports& reports;
  Slots& slots;
  StepActions steps;
  Announcer& announcer;
};

class Replica {
 public:
  Replica(Stage& stage, Invariants& invariants, const Outside& outside, std::string name,
          std::function<void()> interrupt);

  // A fresh list of everything, as an informer begins.
  void list_all();
  // The next `count` changes of the cluster.
  void hear(std::size_t count);
  void reconcile(std::string node);
  [[nodiscard]] Result<IntakeCounts> take(const Order& order);
  // Everything that is open.
  void resync();

  [[nodiscard]] std::map<std::string, Clock::Steady>& due() { return due_; }
  [[nodiscard]] const std::string& name() const { return look_.who; }
  [[nodiscard]] bool is_busy() const { return is_busy_; }
  [[nodiscard]] bool is_taking() const { return is_taking_; }

 private:
  class Turn;
  void apply(const Change& change);
  void collect_queue();
  [[nodiscard]] std::chrono::milliseconds wait_after(ErrorKind kind);

  Stage& stage_;
  Look look_;
  bool is_busy_ = false, is_taking_ = false;
  std::size_t heard_ = 0;
  std::map<std::string, Clock::Steady> due_;
  NoCredentials credentials_;
  Silence observer_;
  Wire wire_;
  kube::Api api_;
  RemediationStore store_;
  ClusterView view_;
  WorkQueue queue_;
  RemediationIntake intake_;
  Reconciler reconciler_;
};

}  // namespace gpuward::remediator::simulation
