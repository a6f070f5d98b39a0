// The record of the step nccl-pairs: the tests of two nodes each, and in the end the finding for
// each node. It is kept in the facts of one Remediation's step; the others read it there. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostPairWords = 240;  // bytes of the words of one test

enum class PairResult : std::uint8_t {
  kRunning,
  kPassed,
  kFailed,
  kUnknown  // it has ended and says nothing about the nodes
};

struct PairTest {
  std::string first, second;  // nodes, the smaller name first: rank 0 runs there
  PairResult result = PairResult::kRunning;
  WallTime since = {};
  std::string token = {};  // by which the two know each other; gone once it has ended
  bool is_made = false;    // both Jobs
  std::string words = {};  // how it ended, for people

  [[nodiscard]] bool has(std::string_view node) const { return first == node || second == node; }
  [[nodiscard]] const std::string& other(std::string_view node) const {
    return first == node ? second : first;
  }
};

enum class PairFinding : std::uint8_t { kGood, kBad, kUnknown };
using PairFindings = std::map<std::string, PairFinding>;  // by node

inline const std::string kPairTestsFact = "pairTests";        // of the node that leads the tests
inline const std::string kPairFindingsFact = "pairVerdicts";  // once they have ended

[[nodiscard]] std::string to_string(PairResult result);  // "running", "passed", "failed", "untold"

// One line of JSON. The parser skips text that another writer has broken.
[[nodiscard]] std::string pair_tests_text(const std::vector<PairTest>& tests);
[[nodiscard]] std::vector<PairTest> parse_pair_tests(std::string_view text);

// "gpu-01=good gpu-02=bad".
[[nodiscard]] std::string pair_findings_text(const PairFindings& verdicts);
[[nodiscard]] PairFindings parse_pair_findings(std::string_view text);

// Reads the facts of a step; empty if that step leads no tests.
[[nodiscard]] std::vector<PairTest> pair_tests_in(const Facts& facts);
[[nodiscard]] PairFindings pair_findings_in(const Facts& facts);

}  // namespace gpuward::remediator
