// What the informers reported last, and what this process has written itself: all nodes and all
// Remediations. Lets the webhook answer repeats without a request, and refuse node names that do
// not exist before they reach a URL. May lag behind: whoever writes does so with compare-and-set
// and reads again where the view was old. What is counted over all of it cannot be read again: it
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
#include "remediator/actions/job_peers.h"
#include "remediator/model/fleet.h"
#include "remediator/model/remediation.h"
#include "remediator/records/machine_history.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/node_announcements.h"
#include "remediator/sources/node_conditions.h"
#include "remediator/sources/node_lines.h"
#include "remediator/sources/node_signs.h"

namespace gpuward::remediator {

// How long ago both informers may have heard from the API server where a step that disrupts is
// weighed by what they have told. A watch of theirs ends or speaks at least every 20 s.
inline constexpr std::chrono::milliseconds kOldestView{30'000};

enum class Informer : std::uint8_t { kNodes, kRemediations };

// When each informer has last heard from the API server. Any thread.
class InformerState {
 public:
  // It has had a complete list.
  void note_synced(Informer which);
  // It has heard from the API server just now, be it that there is nothing new.
  void note_heard(Informer which, Clock::Steady now);
  // Both have had a complete list.
  [[nodiscard]] bool synced() const;
  // Both have heard within kOldestView.
  [[nodiscard]] bool is_fresh(Clock::Steady now) const;

 private:
  mutable std::mutex mutex_;
  std::array<bool, 2> synced_{};
  std::array<std::optional<Clock::Steady>, 2> heard_;
};

// What is known, with its indexes.
struct ViewState {
  NodesByName nodes;
  Fleet fleet;                                     // of the nodes and Remediations
  std::map<std::string, std::string> own_changes;  // node name -> resourceVersion, the last
  RemediationsByName remediations;
  std::set<std::string> unrecorded;                 // names of those not decided yet
  std::set<std::string> untainted;                  // those of them whose node has no mark
  std::multimap<std::string, std::string> by_uid;   // node UID -> name of a Remediation
  std::map<std::string, int> last_numbers;          // by node UID, also of deleted ones
  std::multimap<std::string, std::string> by_node;  // node name -> name of a Remediation
};

// Any thread. What is asked of it: view_queries.h.
class ClusterView final : public KnownEvidence,
                          public NodeConditions,
                          public NodeLines,
                          public NodeAnnouncements,
                          public NodeSigns,
                          public SeenRemediations {
 public:
  // `census`: of a node that budgets count, because it has GPUs.
  void put_node(kube::Node node, std::optional<FleetNode> census);
  // Another policy names other labels as places: reads where each node of the census stands again.
  // From then on these keys count for each census, which another thread may have made before.
  void set_places(const PlaceKeys& keys);
  void remove_node(const std::string& name);
  // This process has just made that version of the node.
  void note_own_change(kube::Node node);
  // One that is older than what is known changes nothing.
  void put_remediation(Remediation remediation);
  void remove_remediation(const std::string& name);
  // A complete list of that version has these names. What this process has made since is newer; of
  // what it made before and somebody has deleted an informer need never have heard.
  void keep_remediations(const std::set<std::string>& names, const std::string& version);

  // What is known, as long as this stands; whoever has it must not call the view.
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

  // Whether a machine may have returned since this was last asked: a node has come that was not
  // known, or a machine was given up that may be back already.
  [[nodiscard]] bool may_have_returned();

  struct Count {
    Phase phase = Phase::kPending;
    Severity severity = Severity::kNone;
    std::size_t number = 0;
    std::size_t unanswered = 0;  // wait for an approval that nobody has given
    // Since when the one that has been longest at its newest step is at it; absent where closed.
    std::optional<WallTime> oldest_step = {};
  };

 private:
  InformerState informers_;
  mutable std::mutex mutex_;
  bool may_have_returned_ = false;
  std::optional<PlaceKeys> place_keys_;  // nullopt: each census has its own
  ViewState state_;
};

}  // namespace gpuward::remediator
