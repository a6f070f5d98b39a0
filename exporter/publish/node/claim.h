// The run that has a node for maintenance, and until when: an annotation beside the maintenance
// taint of a sweep or the mode label of a quarantine. A run that is killed leaves a claim that
// expires; the node's agent and the next sweep remove the remains of an expired claim. Pure.
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
// Returns nullopt if the text is not a claim.
[[nodiscard]] std::optional<Claim> parse_claim(std::string_view annotation);
// Returns the claim of this name that expires last, under any prefix.
[[nodiscard]] std::optional<Claim> claim_on(const kube::Node& node, NodeName name);

// Returns why the node is under maintenance, by the taints and annotations under any prefix: "a
// quarantine is running on it", "it is under maintenance"; nullopt if it is not.
[[nodiscard]] std::optional<std::string> maintenance_of(const kube::Node& node);

// Adds to `change` the removal of the taint or label of claims that have expired, or that `owner`
// releases (empty: none). A taint without a claim has another owner and stays.
void release_claims(const kube::Node& node, kube::WallTime now, std::string_view owner,
                    kube::NodeChange& change);

}  // namespace gpuward::exporter
