#include "remediator/model/machine_proofs.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kProofsNeeded = 2;

bool is_fresh(const MachineProof& proof, WallTime now) {
  return now - proof.at <= kProofLasts && proof.at - now <= kProofLasts;
}

}  // namespace

std::string seconds_text(WallTime at, WallTime now) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - at).count();
  return std::to_string(std::max<std::int64_t>(age, 0)) + " s";
}

std::string_view to_string(ProofKind kind) {
  constexpr std::array<std::string_view, 3> kProofKinds = {"scrapes", "cloud", "power"};
  return kProofKinds[static_cast<std::size_t>(kind)];
}

std::optional<std::string> objection_to_dead(const MachineProofs& proofs, WallTime now) {
  std::set<ProofKind> down;
  std::string text;
  for (const MachineProof& proof : proofs) {
    const std::string what = std::string(to_string(proof.kind)) + ": " + proof.words;
    if (proof.sign == ProofSign::kUp && is_fresh(proof, now))
      return "the machine is not down: " + what;
    text += (text.empty() ? "" : "; ") + what;
    if (proof.sign == ProofSign::kDown && is_fresh(proof, now)) down.insert(proof.kind);
  }
  if (down.size() >= kProofsNeeded) return std::nullopt;
  return std::to_string(down.size()) + " of " + std::to_string(kProofsNeeded) +
         " proofs that the machine is down" + (text.empty() ? "" : ": " + text);
}

std::optional<std::string> proof_of_off(const MachineProofs& proofs, WallTime now) {
  const auto found = std::ranges::find_if(proofs, [&](const MachineProof& proof) {
    return proof.sign == ProofSign::kDown && proof.is_off && is_fresh(proof, now);
  });
  if (found == proofs.end()) return std::nullopt;
  return std::string(to_string(found->kind)) + ": " + found->words;
}

std::string to_text(const MachineProofs& proofs, WallTime now) {
  std::string text;
  for (const MachineProof& proof : proofs) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(proof.kind)) + ": " + proof.words;
    if (proof.sign != ProofSign::kUnknown && !is_fresh(proof, now))
      text += " (at " + to_rfc3339(proof.at) + ", too long ago)";
  }
  return text;
}

// The exporter alone may have ended while its machine runs, and a Prometheus that cannot scrape
// many nodes says nothing about one of them.
MachineProof proof_of(const NodeScrapes& scrapes, int most_down) {
  MachineProof proof;
  proof.kind = ProofKind::kScrapes;
  if (scrapes.at) proof.at = *scrapes.at;
  if (scrapes.exporter.value_or(false) || scrapes.others_up > 0) {
    proof.sign = ProofSign::kUp;
    proof.words = "Prometheus still scrapes " + std::string(scrapes.exporter.value_or(false)
                                                                ? "the node's exporter"
                                                                : "a target on the node");
  } else if (!scrapes.exporter || !scrapes.at) {
    proof.words = "Prometheus has no series from the node's exporter";
  } else if (scrapes.others_down == 0) {
    proof.words =
        "Prometheus cannot scrape the node's exporter and has no other target on the node";
  } else if (scrapes.fleet_down > most_down) {
    proof.words = "Prometheus cannot scrape the exporters of many nodes";
  } else {
    proof.sign = ProofSign::kDown;
    proof.words = "Prometheus cannot scrape the node's exporter or any other target on the node";
  }
  return proof;
}

}  // namespace gpuward::remediator
