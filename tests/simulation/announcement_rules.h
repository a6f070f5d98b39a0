// What must be true of every step that rests on what a cloud has announced, judged by what the
// exporter of that very machine has said on its Node, and when.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kube/node_announcements.h"
#include "tests/simulation/machine.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Told;

class AnnouncementRules {
 public:
  explicit AnnouncementRules(Stage& stage) : stage_(stage) {}

  // The exporter of the machine that this Node stands for says so, from now on.
  void on_said(const std::string& node_uid, const std::vector<NodeAnnouncement>& list);
  // From now on nothing goes wrong.
  void on_calm() { calm_ = stage_.clock.steady(); }
  // etcd is restored: Nodes have what was said once.
  void on_restored();
  // A drain of a plan for what is announced is intended; false: it is of another plan.
  [[nodiscard]] bool check_drain(const Remediation& after, const StepRecord& record) const;
  // Steps that come after the drain.
  void on_written(const Remediation& before, const Remediation& after) const;
  // What was put on a node for that is taken off.
  void check_returned(const Remediation& owner, const kube::Node& node) const;
  // In the quiet time, once the cloud begins.
  void check_begun(const Machine& machine, const CloudEvent& event, const Told& told) const;
  // At rest, when all is over.
  void check_rest(const Machine& machine) const;

 private:
  // Said in one boot of one machine.
  struct Said {
    NodeAnnouncement what;
    Tick since = 0;
    Clock::Steady at = {};
    std::optional<Tick> until = {};
  };
  void check_not_standing(const Remediation& owner, const std::string& what) const;
  [[nodiscard]] std::shared_ptr<const Policy> policy_of(const Remediation& remediation,
                                                        const kube::Node& node) const;

  Stage& stage_;
  std::map<std::string, std::vector<Said>> said_;  // by node UID
  Clock::Steady calm_{};
};

}  // namespace gpuward::remediator::simulation
