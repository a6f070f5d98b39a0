// The record of the step nccl-pairs: the tests of two nodes each, and at the end the finding for
// each node. The facts of the leading Remediation's step hold the record, and the other
// Remediations read it from there. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostPairWords = 240;  // Limit in bytes for the `words` of one test.

enum class PairResult : std::uint8_t {
  kRunning,
  kPassed,
  kFailed,
  kUnknown  // The test has ended and says nothing about the nodes.
};

struct PairTest {
  std::string first, second;  // Names of the nodes, the smaller name first. Rank 0 runs on `first`.
  PairResult result = PairResult::kRunning;
  WallTime since = {};
  // Secret by which the two Jobs recognise each other; removed when the test has ended.
  std::string token = {};
  bool is_made = false;    // Both Jobs are created.
  std::string words = {};  // How the test ended, for people.

  [[nodiscard]] bool has(std::string_view node) const { return first == node || second == node; }
  [[nodiscard]] const std::string& other(std::string_view node) const {
    return first == node ? second : first;
  }
};

enum class PairFinding : std::uint8_t { kGood, kBad, kUnknown };
using PairFindings = std::map<std::string, PairFinding>;  // Findings by node name.

// Fact of the node that leads the tests.
inline const std::string kPairTestsFact = "pairTests";
// Fact of the leader, once the tests have ended.
inline const std::string kPairFindingsFact = "pairVerdicts";

// Returns "running", "passed", "failed" or "untold".
[[nodiscard]] std::string to_string(PairResult result);

// Returns the tests as one line of JSON. The parser ignores text that is not valid.
[[nodiscard]] std::string pair_tests_text(const std::vector<PairTest>& tests);
[[nodiscard]] std::vector<PairTest> parse_pair_tests(std::string_view text);

// Returns the findings as "gpu-01=good gpu-02=bad".
[[nodiscard]] std::string pair_findings_text(const PairFindings& verdicts);
[[nodiscard]] PairFindings parse_pair_findings(std::string_view text);

// Reads the tests from the facts of a step; empty if that step leads no tests.
[[nodiscard]] std::vector<PairTest> pair_tests_in(const Facts& facts);
[[nodiscard]] PairFindings pair_findings_in(const Facts& facts);

}  // namespace gpuward::remediator
