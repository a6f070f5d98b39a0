// Nodes and machines that an operator excludes from gpuward for a while, with a reason and an end.
// Pure; stored in the cluster by cluster/exclusion_store, used by decide().
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct Exclusion {
  std::chrono::system_clock::time_point since{}, until{};
  std::string reason, by;

  friend bool operator==(const Exclusion&, const Exclusion&) = default;
};

// Longer exclusions are refused, so that a forgotten one ends by itself.
inline constexpr std::chrono::hours kLongestExclusion{24 * 366};

// The exclusions by node name or instance ID (`i-0123` of `aws:///eu-1a/i-0123`).
using ExclusionList = std::map<std::string, Exclusion>;

struct ExclusionHit {
  std::string subject;  // the name or instance in the list
  std::string why;      // for people
  std::chrono::system_clock::time_point until;
};

// Returns the exclusion that names this node or its machine and has not expired; if both are
// listed, the one that ends later.
[[nodiscard]] std::optional<ExclusionHit> exclusion_for(const ExclusionList& list,
                                                        const kube::Node& node,
                                                        std::chrono::system_clock::time_point now);

[[nodiscard]] std::string exclusion_text(const std::string& subject, const Exclusion& exclusion);

[[nodiscard]] ExclusionList without_expired(ExclusionList list,
                                            std::chrono::system_clock::time_point now);

// Returns whether the text can name a node or an instance: letters, digits, `-`, `_`, `.`, as in
// the keys of a ConfigMap.
[[nodiscard]] bool is_exclusion_subject(std::string_view text);

}  // namespace gpuward::remediator
