// Nodes and machines that an operator keeps gpuward off for a while, with a reason and an end.
// Pure; kept in the cluster by records/exclusion_store, asked by decide().
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

// Longer ones are refused: what nobody remembers is to end by itself.
inline constexpr std::chrono::hours kLongestExclusion{24 * 366};

// By node name or instance id (`i-0123` of `aws:///eu-1a/i-0123`).
using ExclusionList = std::map<std::string, Exclusion>;

struct ExclusionHit {
  std::string subject;  // the name or the instance that the list has
  std::string why;      // for people
  std::chrono::system_clock::time_point until;
};

// What names this node or its machine and is not over; of two the one that lasts longer.
[[nodiscard]] std::optional<ExclusionHit> exclusion_for(const ExclusionList& list,
                                                        const kube::Node& node,
                                                        std::chrono::system_clock::time_point now);

[[nodiscard]] std::string exclusion_text(const std::string& subject, const Exclusion& exclusion);

[[nodiscard]] ExclusionList without_expired(ExclusionList list,
                                            std::chrono::system_clock::time_point now);

// What can be the name of one: letters, digits, `-`, `_`, `.`, as in the keys of a ConfigMap.
[[nodiscard]] bool is_exclusion_subject(std::string_view text);

}  // namespace gpuward::remediator
