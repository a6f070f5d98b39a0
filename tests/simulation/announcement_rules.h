// Rules for every step that rests on an announcement of a cloud. They judge by what the exporter of
// that machine wrote on its Node, and when.
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

  // The exporter of the Node's machine reports this list from now on.
  void on_said(const std::string& node_uid, const std::vector<NodeAnnouncement>& list);
  // Nothing goes wrong from now on.
  void on_calm() { calm_ = stage_.clock.steady(); }
  // etcd was restored: Nodes have their old annotations.
  void on_restored();
  // A replica intends a drain. Returns false if its plan is not one for an announcement.
  [[nodiscard]] bool check_drain(const Remediation& after, const StepRecord& record) const;
  // Checks the steps that come after the drain.
  void on_written(const Remediation& before, const Remediation& after) const;
  // A replica removes the taint and the cordon of such a node.
  void check_returned(const Remediation& owner, const kube::Node& node) const;
  // In the quiet time, when the cloud begins.
  void check_begun(const Machine& machine, const CloudEvent& event, const Told& told) const;
  // At rest, when all announcements are over.
  void check_rest(const Machine& machine) const;

 private:
  // Reported in one boot of one machine.
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
