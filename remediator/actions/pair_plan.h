// Which nodes are to be tested together next, and what the tests say of each: a node that has
// passed with another is good; one that fails with a good one is the culprit. Pure; used by the
// step nccl-pairs.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "remediator/actions/pair_record.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostPairsAtOnce = 8;
inline constexpr std::size_t kMostPairTests = 256;  // of one step: its record has to stay small

struct PairPlan {
  std::vector<std::pair<std::string, std::string>> next;  // to be begun; no node is in two
  PairFindings verdicts;  // of all members, once nothing more is to be tested; empty before
};

// `members`: nodes, sorted. `busy`: those that somebody else tests still. As long as no member is
// known to be good, disjoint pairs of those that were not tested together yet; then each that
// nothing is known of against a good one of its own. What could not be told is tried once more.
[[nodiscard]] PairPlan plan_pairs(const std::vector<std::string>& members,
                                  const std::vector<PairTest>& tests,
                                  const std::set<std::string>& busy = {});

// What the tests say of each, however much was left to be tested.
[[nodiscard]] PairFindings pair_findings(const std::vector<std::string>& members,
                                         const std::vector<PairTest>& tests);

// What the tests say of the node, with the names of its partners, for people.
[[nodiscard]] std::string pair_words(const std::string& node, PairFinding verdict,
                                     const std::vector<PairTest>& tests);

}  // namespace gpuward::remediator
