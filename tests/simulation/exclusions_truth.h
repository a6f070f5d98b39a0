// Whom people keep gpuward off for a while, as they have really said, and which process has heard
// of it: a list that somebody deletes is still in force for whoever has read it. Kept by the Stage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "remediator/guards/exclusions.h"
#include "tests/simulation/truth.h"

namespace gpuward::remediator::simulation {

class ExclusionsTruth {
 public:
  struct Said {
    Tick tick = 0;
    Clock::Steady at;
  };

  // The list stands in the API server as people, or a replica, have left it; null: it is deleted.
  void put(const ExclusionList* list, Said now) {
    is_deleted_ = list == nullptr;
    if (list == nullptr) return;
    for (const auto& [subject, exclusion] : *list) {
      const auto known = list_.find(subject);
      if (known == list_.end() || known->second != exclusion) said_[subject] = now;
    }
    list_ = *list;
  }
  // etcd is restored: what stands there now is news to everybody.
  void go_back_to(const ExclusionList* list, Said now) {
    list_.clear();
    put(list, now);
  }
  // That process has read it as it is.
  void note_told(const std::string& identity) {
    if (!is_deleted_) told_[identity] = list_;
  }
  [[nodiscard]] const ExclusionList& list() const { return list_; }
  [[nodiscard]] bool is_deleted() const { return is_deleted_; }

  // Why that process has to keep its hands off the node: by what was said before both of `by`, and
  // goes on longer than `now`. Empty where nothing was.
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
