// The pods of a simulation as they really are: the node of each, and the Nodes that have had that
// name since. A pod belongs to all of these Nodes. A pod that is made again under the same name is
// another pod.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/runtime/clock.h"
#include "tests/simulation/pod_holds.h"
#include "tests/simulation/truth.h"

namespace gpuward::remediator::simulation {

struct PodTruth {
  std::string uid, node;
  std::set<std::string> node_uids;  // of the Nodes that had its node's name during its life
  Tick since = 0;
  Clock::Steady came = {};
  bool is_unmanaged = false;
  bool is_ending = false;
  Tick ending_since = 0;
  bool stays = false;  // even if its kubelet ends it
};

// The pod's name in the path of a pod, or of its eviction.
[[nodiscard]] inline std::string pod_in(const std::string& url) {
  const std::string word = "/pods/";
  const auto begin = url.find(word) + word.size();
  return url.substr(begin, url.find_first_of("/?", begin) - begin);
}

class PodTruths {
 public:
  void bind(const std::string& pod, PodTruth truth) {
    pods_.insert_or_assign(pod, std::move(truth));
  }
  void end(const std::string& pod) { pods_.erase(pod); }
  void note_ending(const std::string& pod, Tick now) {
    PodTruth& known = pods_.at(pod);
    if (!known.is_ending) known.ending_since = now;
    known.is_ending = true;
  }
  void let_stay(const std::string& pod, bool stays) { pods_.at(pod).stays = stays; }
  void note_node(const std::string& node, const std::string& uid) {
    for (auto& [name, pod] : pods_) {
      if (pod.node == node) pod.node_uids.insert(uid);
    }
  }
  // The kind of all pods that come under the name.
  void note_kind(const std::string& pod, PodKind kind) { kinds_.insert_or_assign(pod, kind); }
  // etcd was restored: the pods of the backup are there.
  void go_back_to(const PodTruths& backup) { pods_ = backup.pods_; }
  void note_node_gone(const std::string& uid, Tick now) { gone_.emplace(uid, now); }

  [[nodiscard]] const std::map<std::string, PodTruth>& all() const { return pods_; }
  [[nodiscard]] const PodTruth* find(const std::string& pod) const {
    const auto found = pods_.find(pod);
    return found == pods_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] PodKind kind_of(const std::string& pod) const {
    const auto found = kinds_.find(pod);
    return found == kinds_.end() ? PodKind() : found->second;
  }
  // When the Node of that UID was deleted; nullopt if it was not.
  [[nodiscard]] std::optional<Tick> node_gone(const std::string& uid) const {
    const auto found = gone_.find(uid);
    return found == gone_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, PodTruth> pods_;  // by name
  std::map<std::string, PodKind> kinds_;  // by name
  std::map<std::string, Tick> gone_;      // Nodes, by UID
};

}  // namespace gpuward::remediator::simulation
