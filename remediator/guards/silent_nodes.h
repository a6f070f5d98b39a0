// Which GPU nodes are silent, and whether their silence looks like a partition: then gpuward begins
// nothing, and one alert names them all. The silence of nodes without GPUs is a sign of a partition
// too. Pure. Used by sources/silent_source, and read again before each step that disrupts
// a silent node.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/silent_rules.h"

namespace gpuward::remediator {

// A node as the informers have last seen it.
struct NodeSign {
  std::string node;
  Place place;
  bool has_gpus = true;
  std::string ready;                   // the status of its condition Ready; empty: it has none
  std::optional<WallTime> since = {};  // that condition's last transition
  std::optional<WallTime> heartbeat = {};
  std::optional<WallTime> created = {};
  std::string address = {};         // where Prometheus finds what runs there
  bool is_leaving = false;          // the Node is being deleted
  bool is_restarting = false;       // gpuward has asked for the machine's restart or end
  bool is_recorded = false;         // an open Remediation says that it is silent
  bool waits_for_operator = false;  // and nothing more is done for that
  int recent = 0;                   // Remediations of a day that say so, that one included

  [[nodiscard]] bool is_silent() const { return ready != "True"; }
};

[[nodiscard]] NodeSign sign_of(const kube::Node& node, Place place);

// A machine that its operator knows to be dead says nothing of a partition. One without GPUs
// counts as dead after kKnownDead, because it has no Remediation.
inline constexpr std::chrono::hours kKnownDead{24}, kKnownHeld{1};
// Silences that begin within that time have one cause.
inline constexpr std::chrono::seconds kTogether{60};
// So many of a day are told of as flapping.
inline constexpr int kFlapping = 3;
inline constexpr std::chrono::hours kFlappingWithin{24};

inline constexpr std::string_view kSilentShareRule = "silent.share";
inline constexpr std::string_view kSilentTogetherRule = "silent.together";
// Why nothing is begun for a silent node.
struct SilentObjection {
  std::string_view rule;
  std::string message;
};

class SilentNodes {
 public:
  // `newcomer`: nodes younger than that are still being set up, and count for nothing.
  SilentNodes(std::span<const NodeSign> nodes, const SilentRules& rules,
              std::chrono::milliseconds newcomer, WallTime now);
  // Whether its silence counts: of no newcomer, none that leaves or restarts, nor of one that is
  // known to be dead.
  [[nodiscard]] bool counts(const NodeSign& node) const;
  // Why its silence looks like a partition; nullopt where it does not.
  [[nodiscard]] std::optional<SilentObjection> objection(const NodeSign& node) const;

 private:
  struct Count {
    std::size_t silent = 0, all = 0;
  };
  using Counts = std::map<std::string, Count>;  // by scope
  struct Silence {
    WallTime since;
    Place place;
  };
  [[nodiscard]] bool is_newcomer(const NodeSign& node) const;
  [[nodiscard]] std::optional<SilentObjection> objection_of(const Counts& counts,
                                                            const std::string& scope,
                                                            std::string_view kind) const;

  const SilentRules& rules_;
  std::chrono::milliseconds newcomer_;
  WallTime now_;
  Counts gpu_nodes_, all_nodes_;
  std::vector<WallTime> begun_;  // of the silences of GPU nodes that count, sorted
  std::vector<Silence> others_;  // of nodes without GPUs
};

}  // namespace gpuward::remediator
