// Finds the GPU nodes that are silent and decides whether their silence looks like a partition. If
// it does, gpuward begins nothing, and one alert names them all. The silence of nodes without GPUs
// is a sign of a partition too. Pure. Used by inbox/sources/silent_source, and again before each
// step that disrupts a silent node.
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
  std::string address = {};         // where Prometheus finds its targets
  bool is_leaving = false;          // the Node is being deleted
  bool is_restarting = false;       // gpuward has requested the machine's restart or end
  bool is_recorded = false;         // an open Remediation says that it is silent
  bool waits_for_operator = false;  // and that one waits for an operator
  int recent = 0;                   // such Remediations within a day, that one included

  [[nodiscard]] bool is_silent() const { return ready != "True"; }
};

[[nodiscard]] NodeSign sign_of(const kube::Node& node, Place place);

// A machine that its operator knows to be dead says nothing about a partition: it stops counting
// kKnownHeld after it fell silent if its Remediation waits for an operator, else after kKnownDead.
// A node without GPUs has no Remediation and stops counting after kKnownDead.
inline constexpr std::chrono::hours kKnownDead{24}, kKnownHeld{1};
// Silences that begin within this time have one cause.
inline constexpr std::chrono::seconds kTogether{60};
// A node with so many silences within kFlappingWithin is reported as flapping.
inline constexpr int kFlapping = 3;
inline constexpr std::chrono::hours kFlappingWithin{24};

inline constexpr std::string_view kSilentShareRule = "silent.share";
inline constexpr std::string_view kSilentTogetherRule = "silent.together";
// Why gpuward begins nothing for a silent node.
struct SilentObjection {
  std::string_view rule;
  std::string message;
};

class SilentNodes {
 public:
  // `newcomer`: nodes younger than that are still being set up and do not count.
  SilentNodes(std::span<const NodeSign> nodes, const SilentRules& rules,
              std::chrono::milliseconds newcomer, WallTime now);
  // Returns whether its silence counts. It does not for a newcomer, for a node that leaves or
  // restarts, or for a machine that is known to be dead.
  [[nodiscard]] bool counts(const NodeSign& node) const;
  // Returns why its silence looks like a partition; nullopt if it does not.
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
  std::vector<WallTime> begun_;  // the silences of GPU nodes that count, sorted
  std::vector<Silence> others_;  // of nodes without GPUs
};

}  // namespace gpuward::remediator
