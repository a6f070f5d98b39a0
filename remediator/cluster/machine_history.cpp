#include "remediator/cluster/machine_history.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "remediator/model/diagnostics.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

// An operator has taken over the machine, or has declared that it is another one.
bool is_word(const Remediation& remediation) {
  return remediation.status.phase == Phase::kCancelled || remediation.wish.machine_replaced;
}

// The same, or the machine was proven healthy, or is gone.
bool is_answer(const Remediation& remediation) {
  const Phase phase = remediation.status.phase;
  return phase == Phase::kReleased || phase == Phase::kReplaced || is_word(remediation);
}

// When a Node's Remediations were created, as far as that matters here. The API server's clock may
// have gone back between two, and its times have whole seconds. Nodes are ordered by their first
// Remediation; within one second an operator's answer counts last, then the stricter one.
struct NodeRank {
  std::optional<WallTime> first;
  bool is_cancelled = false, was_given_up = false;
  Severity severity = Severity::kNone;

  friend auto operator<=>(const NodeRank&, const NodeRank&) = default;
};

using Ranks = std::map<std::string, NodeRank>;  // by node UID

void add(Ranks& ranks, const Remediation& one) {
  const auto [it, is_new] = ranks.try_emplace(one.node_uid, NodeRank{.first = one.created});
  NodeRank& rank = it->second;
  rank.first = std::min(rank.first, one.created);
  rank.is_cancelled |= one.status.phase == Phase::kCancelled;
  rank.was_given_up |= was_given_up(one);
  rank.severity = std::max(rank.severity, one.acted_severity());
}

// Returns whether `answer` (of an operator, a return or a replacement) answers for the machine
// after `one` had given it up. The clock may have gone back: a return or a replacement under
// another Node must be of a later Node and be younger. Under the same Node, both its number and its
// time must be later, because a number is used again if its first Remediation was deleted by force.
bool answers(const Ranks& ranks, const Remediation& answer, const Remediation& one) {
  if (!is_answer(answer)) return false;
  if (answer.node_uid != one.node_uid) {
    const bool is_of_later_node = std::tie(ranks.at(one.node_uid), one.node_uid) <
                                  std::tie(ranks.at(answer.node_uid), answer.node_uid);
    return is_of_later_node && (is_word(answer) || one.created <= answer.created);
  }
  return count_in(one.name) < count_in(answer.name) && one.created <= answer.created;
}

// Remediations by each ID that may identify their machine.
class Index {
 public:
  explicit Index(const RemediationsByName& remediations) {
    for (const auto& [name, remediation] : remediations) {
      for (std::string& key : keys_of(machine_of(remediation)))
        by_key_.emplace(std::move(key), &remediation);
      by_uid_.emplace(remediation.node_uid, &remediation);
    }
  }

  // Returns those of other Nodes that share any ID.
  [[nodiscard]] std::set<const Remediation*> near(const NodeIdentity& node) const {
    std::set<const Remediation*> found;
    for (const std::string& key : keys_of(machine_of(node))) {
      auto [it, end] = by_key_.equal_range(key);
      for (; it != end; ++it) {
        if (it->second->node_uid != node.uid) found.insert(it->second);
      }
    }
    return found;
  }

  // Returns whether a Remediation of that very Node reports the return of its machine, or has
  // answered it.
  [[nodiscard]] bool has_result(const std::string& node_uid) const {
    auto [it, end] = by_uid_.equal_range(node_uid);
    return std::any_of(it, end, [](const auto& known) {
      return is_answer(*known.second) || std::ranges::any_of(known.second->alerts, is_of_history);
    });
  }

 private:
  static std::vector<std::string> keys_of(const MachineIdentity& machine) {
    std::vector<std::string> keys;
    const auto add = [&](char kind, const std::string& value) {
      if (!value.empty()) keys.push_back(kind + value);
    };
    add('i', machine.instance_id);
    add('u', normal_uuid(machine.system_uuid));
    add('b', machine.boot_id);
    return keys;
  }

  std::multimap<std::string, const Remediation*> by_key_, by_uid_;
};

// Returns the worst of those that have given the machine up since the last answer. It is a
// contradiction if none of the equally severe ones is certainly the same machine.
std::optional<ReturnedMachine> returned(const NodeIdentity& node, const Index& index,
                                        const SharedIds& shared) {
  std::vector<std::pair<const Remediation*, Sameness>> past;
  for (const Remediation* one : index.near(node)) {
    const Sameness is = sameness(machine_of(*one), machine_of(node), shared);
    if (is == Sameness::kSame || is == Sameness::kContradictory) past.emplace_back(one, is);
  }
  Ranks ranks;
  for (const auto& [one, is] : past) add(ranks, *one);
  ReturnedMachine machine{.node = node};
  Severity worst_of_same = Severity::kNone;
  for (const auto& [one, is] : past) {
    const bool is_answered = std::ranges::any_of(
        past, [&, of = one](const auto& other) { return answers(ranks, *other.first, *of); });
    const Severity severity = is_answered ? Severity::kNone : given_up_with(*one);
    if (severity == Severity::kNone) continue;
    machine.severity = std::max(machine.severity, severity);
    if (is != Sameness::kSame) continue;
    machine.has_failed_diagnostic |= has_failed_in(*one, node.boot_id);
    worst_of_same = std::max(worst_of_same, severity);
  }
  if (machine.severity == Severity::kNone) return std::nullopt;
  machine.is_contradictory = worst_of_same < machine.severity;
  return machine;
}

}  // namespace

NodeIdentity identity_of(const kube::Node& node) {
  return {.name = node.meta.name,
          .uid = node.meta.uid,
          .boot_id = node.boot_id,
          .instance_id = node.provider_id,
          .created = node.meta.created,
          .system_uuid = node.system_uuid};
}

MachineIdentity machine_of(const NodeIdentity& node) {
  return {.node = node.name,
          .instance_id = node.instance_id,
          .system_uuid = node.system_uuid,
          .boot_id = node.boot_id};
}

MachineIdentity machine_of(const Remediation& remediation) {
  return {.node = remediation.node,
          .instance_id = remediation.instance_id,
          .system_uuid = remediation.system_uuid,
          .boot_id = remediation.boot_id};
}

SharedIds shared_ids(const NodesByName& nodes) {
  SharedIds shared;
  std::set<std::string> uuids, boots;
  for (const auto& [name, node] : nodes) {
    std::string uuid = normal_uuid(node->system_uuid);
    if (!uuid.empty() && !uuids.insert(uuid).second) shared.system_uuids.insert(std::move(uuid));
    if (!node->boot_id.empty() && !boots.insert(node->boot_id).second)
      shared.boot_ids.insert(node->boot_id);
  }
  return shared;
}

std::vector<Remediation> earlier_remediations(const NodeIdentity& node, const NodesByName& nodes,
                                              const RemediationsByName& remediations) {
  std::vector<Remediation> earlier;
  const SharedIds shared = shared_ids(nodes);
  for (const auto& [name, one] : remediations) {
    if (one.node_uid == node.uid) continue;
    if (sameness(machine_of(one), machine_of(node), shared) != Sameness::kSame) continue;
    if (one.wish.machine_replaced) return {};
    earlier.push_back(one);
  }
  return earlier;
}

std::set<std::string> failed_before(const std::set<std::string>& names, const NodesByName& nodes,
                                    const RemediationsByName& remediations) {
  std::set<std::string> failed;
  if (names.empty()) return failed;
  const Index index(remediations);
  const SharedIds shared = shared_ids(nodes);
  for (const std::string& name : names) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) continue;
    const auto machine = returned(identity_of(*node->second), index, shared);
    if (machine && machine->has_failed_diagnostic) failed.insert(name);
  }
  return failed;
}

std::vector<ReturnedMachine> find_returned(const NodesByName& nodes,
                                           const RemediationsByName& remediations) {
  const bool are_any = std::ranges::any_of(
      remediations, [](const auto& known) { return was_given_up(known.second); });
  if (!are_any) return {};
  const Index index(remediations);
  const SharedIds shared = shared_ids(nodes);
  std::vector<ReturnedMachine> found;
  for (const auto& [name, node] : nodes) {
    if (index.has_result(node->meta.uid)) continue;
    if (auto machine = returned(identity_of(*node), index, shared)) found.push_back(*machine);
  }
  return found;
}

}  // namespace gpuward::remediator
