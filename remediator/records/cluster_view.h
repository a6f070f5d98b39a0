// What the informers have last seen, and what this process has written itself: all nodes and all
// Remediations. Lets the webhook answer repeats without a request, and refuse node names that do
// not exist before they reach a URL. May lag behind: whoever writes does so with compare-and-set
// and reads again where the view was old. What is counted over all of it cannot be read again: it
// knows when each informer last heard from the API server.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/actions/fellows.h"
#include "remediator/model/fleet.h"
#include "remediator/model/node_identity.h"
#include "remediator/model/remediation.h"
#include "remediator/records/machine_history.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/node_conditions.h"

namespace gpuward::remediator {

// How long ago both informers may have heard from the API server where a step that disrupts is
// weighed by what they have told. A watch of theirs ends or speaks at least every 20 s.
inline constexpr std::chrono::milliseconds kOldestView{30'000};

// Any thread.
class ClusterView final : public KnownEvidence, public NodeConditions, public SeenRemediations {
 public:
  // `census`: of a node that budgets count, because it has GPUs.
  void put_node(kube::Node node, std::optional<FleetNode> census);
  void remove_node(const std::string& name);
  // This process has just made that version of the node.
  void note_own_change(kube::Node node);
  // One that is older than what is known changes nothing.
  void put_remediation(Remediation remediation);
  void remove_remediation(const std::string& name);
  // A complete list of that version has these names. What this process has made since is newer; of
  // what it made before and somebody has deleted an informer need never have heard.
  void keep_remediations(const std::set<std::string>& names, const std::string& version);
  // The resourceVersion of each, by name.
  [[nodiscard]] std::map<std::string, std::string> remediation_versions() const;
  void set_nodes_synced();
  void set_remediations_synced();
  // That informer has heard from the API server just now, be it that there is nothing new.
  void note_nodes_heard(Clock::Steady now);
  void note_remediations_heard(Clock::Steady now);

  // Both informers have had a complete list.
  [[nodiscard]] bool synced() const;
  // Both have heard within kOldestView.
  [[nodiscard]] bool is_fresh(Clock::Steady now) const;
  [[nodiscard]] std::optional<NodeIdentity> node(const std::string& name) const;
  // As it was last seen; null where it is not known.
  [[nodiscard]] std::shared_ptr<const kube::Node> last_node(const std::string& name) const;
  // Those made at `since` or later, oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const kube::Node>> nodes_since(WallTime since) const;
  [[nodiscard]] bool is_own_change(const std::string& node,
                                   const std::string& resource_version) const;
  // Those of one node UID, oldest first.
  [[nodiscard]] std::vector<Remediation> remediations_of(const std::string& node_uid) const;
  // The others of its node UID that are open: seldom any.
  [[nodiscard]] std::vector<Remediation> others_open(const Remediation& remediation) const;
  // The highest number that the name of one of them has had, be it deleted since; 0 for none.
  [[nodiscard]] int last_number_of(const std::string& node_uid) const;
  // As it was last seen.
  [[nodiscard]] std::optional<Remediation> last_remediation(const std::string& name) const;
  // Calls `use` with each Remediation; it must not call the view.
  void for_each_remediation(const std::function<void(const Remediation&)>& use) const;
  // Whether the Remediation of that name is known in this version or a later one: an informer tells
  // of a write after the one who made it has gone on.
  [[nodiscard]] bool has(const std::string& name, const std::string& resource_version) const;
  // Names of those that something is to be done for, on nodes of that name (more than one after a
  // node was made anew).
  [[nodiscard]] std::vector<std::string> open_for(const std::string& node_name) const;
  // The names of all nodes with such a Remediation.
  [[nodiscard]] std::vector<std::string> nodes_with_open() const;

  [[nodiscard]] std::vector<Order> firing_from(std::string_view origin) const override;
  [[nodiscard]] std::vector<ConditionSeen> conditions(
      std::span<const ConditionRule> rules) const override;
  void with_seen(const std::function<void(std::span<const SeenRemediation>)>& use) const override;

  // Whether a node but for that one has a Remediation since then, of severity reset or worse, that
  // says nothing yet of what was done. Ends at the first: in a storm there are hundreds.
  [[nodiscard]] bool has_unrecorded_since(WallTime since, const std::string& but_for) const;
  // The same where the node does not bear its mark either.
  [[nodiscard]] bool has_unmarked_since(WallTime since, const std::string& but_for) const;
  // Whether the Remediation of that name and its node are known in just these versions.
  [[nodiscard]] bool are_at(const std::string& name, const std::string& version,
                            const std::string& node_version) const;

  // The nodes that budgets count, with what is open about each; `use` must not call the view.
  void with_fleet(const std::function<void(const Fleet&)>& use) const;
  [[nodiscard]] std::size_t fleet_size() const;  // of its nodes

  // Nodes whose machine an earlier Remediation has given up without proof of its health.
  [[nodiscard]] std::vector<ReturnedMachine> returned_machines() const;
  // The Remediations of the same machine under its earlier Nodes (machine_history.h). Looks at all
  // that there are: only for what is rare.
  [[nodiscard]] std::vector<Remediation> earlier_of(const NodeIdentity& node) const;

  // Whether there may be such nodes now that there were not when this was last asked: a node has
  // come that was not known, or a machine was given up that may be back already.
  [[nodiscard]] bool may_have_returned();

  // Names of nodes that seem to have our taint, annotation or cordon and no open Remediation.
  [[nodiscard]] std::vector<std::string> nodes_with_orphaned_marks() const;

  struct Count {
    Phase phase = Phase::kPending;
    Severity severity = Severity::kNone;
    std::size_t number = 0;
    std::size_t unanswered = 0;  // wait for an approval that nobody has given
    // Since when the one that has been longest at its newest step is at it; absent where closed.
    std::optional<WallTime> oldest_step = {};
  };
  [[nodiscard]] std::vector<Count> count_remediations() const;
  // Nodes that a budget or a storm leaves in service (is_left_in_service), by its rule.
  [[nodiscard]] std::map<std::string, std::size_t> count_left_in_service() const;

 private:
  mutable std::mutex mutex_;
  bool nodes_synced_ = false, remediations_synced_ = false;
  std::optional<Clock::Steady> nodes_heard_, remediations_heard_;
  bool may_have_returned_ = false;
  void count_open(const std::string& node_uid);  // into the fleet
  void note_mark(const kube::Node& node);
  [[nodiscard]] bool may_be_orphaned(const kube::Node& node) const;
  [[nodiscard]] bool is_marked(const Remediation& remediation) const;
  [[nodiscard]] bool has_since(const std::set<std::string>& names, WallTime since,
                               const std::string& but_for) const;

  NodesByName nodes_;
  Fleet fleet_;                                     // of nodes_ and remediations_
  std::map<std::string, std::string> own_changes_;  // node name -> resourceVersion, the last
  RemediationsByName remediations_;
  std::set<std::string> unrecorded_;                 // names of those not decided yet
  std::set<std::string> unmarked_;                   // those of them whose node has no mark
  std::multimap<std::string, std::string> by_uid_;   // node UID -> name of a Remediation
  std::map<std::string, int> last_numbers_;          // by node UID, also of deleted ones
  std::multimap<std::string, std::string> by_node_;  // node name -> name of a Remediation
};

}  // namespace gpuward::remediator
