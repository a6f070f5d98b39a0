// Who has a node for maintenance, and until when: an annotation beside the maintenance taint of a
// sweep or the mode label of a quarantine. Whoever is killed leaves a claim that runs out; the
// node's agent and the next sweep take away what an expired claim has left. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/kube/node_names.h"

namespace gpuward::exporter {

struct Claim {
  std::string owner;  // "sweep 5f3a…": one run of a program
  kube::WallTime expires;
};

[[nodiscard]] std::string render_claim(const Claim& claim);
// nullopt for what is none.
[[nodiscard]] std::optional<Claim> parse_claim(std::string_view annotation);
// The one of this name that lasts longest, under whichever prefix.
[[nodiscard]] std::optional<Claim> claim_on(const kube::Node& node, NodeName name);

// Who works on the node by its taints and annotations, whosever they are: "a quarantine is running
// on it", "it is under maintenance"; nullopt for nobody.
[[nodiscard]] std::optional<std::string> maintenance_of(const kube::Node& node);

// Adds to `change` what takes away the taint or the label of claims that have run out, or that
// `owner` gives back (empty: nobody's). A taint without a claim is somebody else's and stays.
void release_claims(const kube::Node& node, kube::WallTime now, std::string_view owner,
                    kube::NodeChange& change);

}  // namespace gpuward::exporter
