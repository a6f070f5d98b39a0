// What says that the machine of a silent node is down, and what says that it is up. Silence itself
// proves nothing: a machine is taken for down on two proofs of different kinds, and on none where
// anything says that it is up. Pure values; read afresh before each step that disrupts a silent
// node (execution/proof_reader).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

enum class ProofSign : std::uint8_t { kUnknown, kDown, kUp };

// Two of the same kind are one: they fail together.
enum class ProofKind : std::uint8_t { kScrapes, kCloud, kPower };
[[nodiscard]] std::string_view to_string(ProofKind kind);

struct MachineProof {
  ProofKind kind = ProofKind::kScrapes;
  ProofSign sign = ProofSign::kUnknown;
  WallTime at;          // when that was so
  std::string words;    // stay the same while nothing changes
  bool is_off = false;  // proven without power: it does not come back by itself
};

using MachineProofs = std::vector<MachineProof>;

// What a step waits for that has no proofs.
inline constexpr std::string_view kProofRule = "silent.proof";
// What a restart or end waits for while the cloud is at work on the machine.
inline constexpr std::string_view kCloudAtWorkRule = "silent.maintenance";
// How old a proof may be.
inline constexpr std::chrono::seconds kProofLasts{120};

// Why the machine is not to be taken for down; nullopt where it is. What is too old counts for
// nothing, and a sign of life however old does where it is kUp within kProofLasts.
[[nodiscard]] std::optional<std::string> objection_to_dead(const MachineProofs& proofs,
                                                           WallTime now);
// What proves the machine to be without power; nullopt where nothing does.
[[nodiscard]] std::optional<std::string> proof_of_off(const MachineProofs& proofs, WallTime now);
// "8 s", not below 0.
[[nodiscard]] std::string seconds_text(WallTime at, WallTime now);
// What the proofs say, for people: each with its age.
[[nodiscard]] std::string to_text(const MachineProofs& proofs, WallTime now);

// What Prometheus knows of a node by its scrapes, whatever these say.
struct NodeScrapes {
  std::optional<bool> exporter = {};   // whether the last scrape of it went well; absent: no series
  int others_up = 0, others_down = 0;  // other targets on the node
  std::optional<WallTime> at = {};     // of the oldest of these
  int fleet_up = 0, fleet_down = 0;    // exporters of all nodes
  std::optional<WallTime> seen_at = {};   // when the exporter was last read, within a day
  std::optional<Severity> severity = {};  // what it reported then
};

// `most_down`: so many exporters may be down before Prometheus is taken for cut off itself.
[[nodiscard]] MachineProof proof_of(const NodeScrapes& scrapes, int most_down);

// Where they come from (sources/prometheus_scrapes). Any thread.
class ScrapeStates {
 public:
  virtual ~ScrapeStates() = default;
  // `address`: where else Prometheus may find what runs on the node; empty: nowhere.
  [[nodiscard]] virtual Result<NodeScrapes> of(std::string_view node, std::string_view address) = 0;
};

// What is asked right before a silent node is disrupted. Any thread.
class ProofSource {
 public:
  virtual ~ProofSource() = default;
  // `node` was read a moment ago. An error: nothing may be begun now, and why, in words that stay
  // the same.
  [[nodiscard]] virtual Result<MachineProofs> read(const kube::Node& node) = 0;
  // Right before each call: an error where the node is Ready or its Lease was renewed a moment ago,
  // and where that cannot be read.
  [[nodiscard]] virtual Status check_silent(const kube::Node& node) = 0;
};

}  // namespace gpuward::remediator
