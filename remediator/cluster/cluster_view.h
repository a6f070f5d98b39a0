// What the informers reported last, and what this process wrote itself: all nodes and all
// Remediations. The webhook can then answer repeats without a request, and refuse names of nodes
// that do not exist before they reach a URL. The view may lag behind: writers use compare-and-set,
// and read again if the view was old. A count over the whole view cannot be read again, so the view
// knows when each informer last heard from the API server.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/machine_history.h"
#include "remediator/cluster/node_announcements.h"
#include "remediator/cluster/node_conditions.h"
#include "remediator/cluster/node_lines.h"
#include "remediator/cluster/node_signs.h"
#include "remediator/cluster/seen_remediations.h"
#include "remediator/model/fleet.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Largest age of the view for a disruptive step: both informers must have heard from the API server
// within this time. Each watch ends or sends something at least every 20 s.
inline constexpr std::chrono::milliseconds kOldestView{30'000};

enum class Informer : std::uint8_t { kNodes, kRemediations };

// The times at which each informer last heard from the API server. Thread-safe.
class InformerState {
 public:
  // Notes that the informer has received a complete list.
  void note_synced(Informer which);
  // Notes that the informer has just heard from the API server, with or without a change.
  void note_heard(Informer which, Clock::Steady now);
  // Returns whether both informers have received a complete list.
  [[nodiscard]] bool synced() const;
  // Returns whether both informers have heard from the API server within kOldestView.
  [[nodiscard]] bool is_fresh(Clock::Steady now) const;

 private:
  mutable std::mutex mutex_;
  std::array<bool, 2> synced_{};
  std::array<std::optional<Clock::Steady>, 2> heard_;
};

// The contents of the view, with its indexes.
struct ViewState {
  NodesByName nodes;
  Fleet fleet;  // Built from the nodes and Remediations.
  // Node name -> resourceVersion of the last own change.
  std::map<std::string, std::string> own_changes;
  RemediationsByName remediations;
  std::set<std::string> unrecorded;  // Names of undecided Remediations.
  // Names of undecided Remediations with a node that has no annotation yet.
  std::set<std::string> untainted;
  std::multimap<std::string, std::string> by_uid;   // Node UID -> name of a Remediation.
  std::map<std::string, int> last_numbers;          // By node UID; includes deleted Remediations.
  std::multimap<std::string, std::string> by_node;  // Node name -> name of a Remediation.
};

// The view of the cluster. Its queries are in view_queries.h. Thread-safe.
class ClusterView final : public KnownEvidence,
                          public NodeConditions,
                          public NodeLines,
                          public NodeAnnouncements,
                          public NodeSigns,
                          public SeenRemediations {
 public:
  // Adds or replaces the node. `census`: the entry of a GPU node, which budgets count.
  void put_node(kube::Node node, std::optional<FleetNode> census);
  // Takes the place labels of a new policy, and computes the place of each census entry again.
  // These keys then apply to every later entry too, because another thread may have computed an
  // entry with the old keys.
  void set_places(const PlaceKeys& keys);
  void remove_node(const std::string& name);
  // Notes that this process has just written that version of the node.
  void note_own_change(kube::Node node);
  // Adds or replaces the Remediation. Ignores a version older than the known version.
  void put_remediation(Remediation remediation);
  void remove_remediation(const std::string& name);
  // Removes all Remediations that are not in `names`, a complete list of that version. Entries that
  // this process created later stay. This removal is needed because an informer may never report an
  // entry that this process created and that was then deleted.
  void keep_remediations(const std::set<std::string>& names, const std::string& version);

  // The contents of the view, locked while this object exists. Its holder must not call the view.
  class Locked {
   public:
    [[nodiscard]] const ViewState& operator*() const { return state_; }
    [[nodiscard]] const ViewState* operator->() const { return &state_; }

   private:
    friend class ClusterView;
    explicit Locked(const ClusterView& view) : lock_(view.mutex_), state_(view.state_) {}

    std::unique_lock<std::mutex> lock_;
    const ViewState& state_;
  };
  [[nodiscard]] Locked lock() const { return Locked(*this); }
  [[nodiscard]] InformerState& informers() { return informers_; }
  [[nodiscard]] const InformerState& informers() const { return informers_; }

  [[nodiscard]] std::vector<AlertSignal> firing_from(std::string_view origin) const override;
  [[nodiscard]] std::vector<ConditionSeen> conditions(
      std::span<const ConditionRule> rules) const override;
  [[nodiscard]] bool is_ruled(const std::string& node, const std::string& fingerprint,
                              std::span<const ConditionRule> rules) const override;
  [[nodiscard]] std::vector<NodeLine> unknown_lines() const override;
  [[nodiscard]] std::vector<AnnouncedNode> announcements() const override;
  [[nodiscard]] std::vector<NodeSign> signs(WallTime now) const override;
  [[nodiscard]] bool is_current(Clock::Steady now) const override {
    return informers_.is_fresh(now);
  }
  void with_seen(const std::function<void(std::span<const SeenRemediation>)>& use) const override;

  // Returns whether a machine may have returned since the last call. An unknown node has appeared,
  // or a Remediation has ended without proof for a machine that may already be back.
  [[nodiscard]] bool may_have_returned();

  struct Count {
    Phase phase = Phase::kPending;
    Severity severity = Severity::kNone;
    std::size_t number = 0;
    std::size_t unanswered = 0;  // Remediations that wait for an approval without an answer.
    // The earliest time at which a Remediation began its newest step; nullopt if all are closed.
    std::optional<WallTime> oldest_step = {};
  };

 private:
  InformerState informers_;
  mutable std::mutex mutex_;
  bool may_have_returned_ = false;
  std::optional<PlaceKeys> place_keys_;  // nullopt: each census entry has its own keys.
  ViewState state_;
};

}  // namespace gpuward::remediator
