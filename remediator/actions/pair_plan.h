// Decides which nodes to test together next, and what the tests say about each: a node that has
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
  PairFindings verdicts;  // of all members, once all tests are done; empty before
};

// `members`: nodes, sorted. `busy`: those that another leader still tests. While no member is known
// to be good, plans disjoint pairs of members that were not tested together yet; then a good
// partner for each member of unknown state. A test without a result is tried once more.
[[nodiscard]] PairPlan plan_pairs(const std::vector<std::string>& members,
                                  const std::vector<PairTest>& tests,
                                  const std::set<std::string>& busy = {});

// Returns the finding for each node from the tests so far, even if tests are missing.
[[nodiscard]] PairFindings pair_findings(const std::vector<std::string>& members,
                                         const std::vector<PairTest>& tests);

// Returns the finding for people, with the names of the node's partners.
[[nodiscard]] std::string pair_words(const std::string& node, PairFinding verdict,
                                     const std::vector<PairTest>& tests);

}  // namespace gpuward::remediator
