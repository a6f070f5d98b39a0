// The exclusions for a limited time as operators really set them, and which process has read them.
// A process that has read a list must obey it even after an operator deletes it. Kept by the Stage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "remediator/cluster/exclusions.h"
#include "tests/simulation/truth.h"

namespace gpuward::remediator::simulation {

class ExclusionsTruth {
 public:
  struct Said {
    Tick tick = 0;
    Clock::Steady at;
  };

  // The list in the API server as operators, or a replica, have left it; null if it is deleted.
  void put(const ExclusionList* list, Said now) {
    is_deleted_ = list == nullptr;
    if (list == nullptr) return;
    for (const auto& [subject, exclusion] : *list) {
      const auto known = list_.find(subject);
      if (known == list_.end() || known->second != exclusion) said_[subject] = now;
    }
    list_ = *list;
  }
  // etcd was restored: the list there is new to every process.
  void go_back_to(const ExclusionList* list, Said now) {
    list_.clear();
    put(list, now);
  }
  // That process has read the current list.
  void note_told(const std::string& identity) {
    if (!is_deleted_) told_[identity] = list_;
  }
  [[nodiscard]] const ExclusionList& list() const { return list_; }
  [[nodiscard]] bool is_deleted() const { return is_deleted_; }

  // Returns why that process may not touch the node: an exclusion that was set before both times of
  // `by` and that lasts longer than `now`. Empty if there is none.
  [[nodiscard]] std::string binds(const std::string& identity, const kube::Node& node,
                                  const Said& by, WallTime now) const {
    static const ExclusionList kNobody;
    const auto told = told_.find(identity);
    const ExclusionList& known = !is_deleted_          ? list_
                                 : told == told_.end() ? kNobody
                                                       : told->second;
    ExclusionList said;
    for (const auto& [subject, exclusion] : known) {
      const Said& when = said_.at(subject);
      if (when.tick < by.tick && when.at <= by.at) said.emplace(subject, exclusion);
    }
    const auto hands_off = exclusion_for(said, node, now);
    return hands_off ? hands_off->why : std::string();
  }

 private:
  ExclusionList list_;
  bool is_deleted_ = true;
  std::map<std::string, Said> said_;           // by subject
  std::map<std::string, ExclusionList> told_;  // by identity
};

}  // namespace gpuward::remediator::simulation
