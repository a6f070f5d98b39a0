// Proofs that the machine of a silent node is down or up. Silence itself proves nothing: gpuward
// treats a machine as down if two proofs of different kinds say so and no proof says that it is up.
// Pure values; read again before each step that disrupts a silent node (act/proof_reader).
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

// Two proofs of the same kind count as one: they fail together.
enum class ProofKind : std::uint8_t { kScrapes, kCloud, kPower };
[[nodiscard]] std::string_view to_string(ProofKind kind);

struct MachineProof {
  ProofKind kind = ProofKind::kScrapes;
  ProofSign sign = ProofSign::kUnknown;
  WallTime at;          // when the observation was true
  std::string words;    // stay the same while nothing changes
  bool is_off = false;  // proven to have no power: it does not come back by itself
};

using MachineProofs = std::vector<MachineProof>;

// The rule of a step that waits for proofs.
inline constexpr std::string_view kProofRule = "silent.proof";
// The rule of a restart or end that waits while the cloud maintains the machine.
inline constexpr std::string_view kCloudAtWorkRule = "silent.maintenance";
// The maximum age of a proof.
inline constexpr std::chrono::seconds kProofLasts{120};

// Returns why the machine must not be treated as down; nullopt if it may be. A proof counts only if
// it is at most kProofLasts away from `now`.
[[nodiscard]] std::optional<std::string> objection_to_dead(const MachineProofs& proofs,
                                                           WallTime now);
// Returns the proof that the machine has no power; nullopt if there is none.
[[nodiscard]] std::optional<std::string> proof_of_off(const MachineProofs& proofs, WallTime now);
// "8 s", not below 0.
[[nodiscard]] std::string seconds_text(WallTime at, WallTime now);
// Returns the proofs as text for people. The text stays the same while they do: it is recorded.
[[nodiscard]] std::string to_text(const MachineProofs& proofs, WallTime now);

// The state of a node's scrapes in Prometheus, and the last severity that its exporter reported.
struct NodeScrapes {
  std::optional<bool> exporter = {};      // whether its last scrape succeeded; absent: no series
  int others_up = 0, others_down = 0;     // other targets on the node
  std::optional<WallTime> at = {};        // time of the oldest of these
  int fleet_up = 0, fleet_down = 0;       // exporters of all nodes
  std::optional<WallTime> seen_at = {};   // when the exporter was last scraped, within a day
  std::optional<Severity> severity = {};  // the severity that it reported then
};

// `most_down`: if more exporters are down, Prometheus itself counts as cut off.
[[nodiscard]] MachineProof proof_of(const NodeScrapes& scrapes, int most_down);

// The source of the scrapes (inbox/sources/prometheus_scrapes). Thread-safe.
class ScrapeStates {
 public:
  virtual ~ScrapeStates() = default;
  // `address`: a second address under which Prometheus may list targets of the node; may be empty.
  [[nodiscard]] virtual Result<NodeScrapes> of(std::string_view node, std::string_view address) = 0;
};

// Reads the proofs right before gpuward disrupts a silent node. Thread-safe.
class ProofSource {
 public:
  virtual ~ProofSource() = default;
  // `node` was just read. An error means that no step may begin now; its text says why and stays
  // the same while the cause does.
  [[nodiscard]] virtual Result<MachineProofs> read(const kube::Node& node) = 0;
  // Called right before each call. An error if the node is Ready, if its Lease was renewed just
  // now, or if that cannot be read.
  [[nodiscard]] virtual Status check_silent(const kube::Node& node) = 0;
};

}  // namespace gpuward::remediator
