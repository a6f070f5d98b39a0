// What the reports of both sides say of the pair. Pure, and the same on both sides for the same
// reports. Used by Pair; its words are for people, its status for the remediator.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/model/check_result.h"
#include "exporter/nccl_pair/message.h"

namespace gpuward::exporter::nccl_pair {

// kPass, kFail, or kError where nothing is said of the two nodes.
struct PairResult {
  CheckStatus status = CheckStatus::kError;
  std::string details;  // valid UTF-8, at most 1 KiB
};

[[nodiscard]] PairResult could_not_tell(const std::string& details);

struct Side {
  std::string host;
  SideResult report;
};

// What both sides have agreed on.
struct Agreed {
  unsigned gpus = 0;  // of a side
  int nccl_version = 0;
  double min_bus_bandwidth = 0;
  std::span<const std::uint64_t> sizes;
};

// `sides` by rank. What one of them could not tell says nothing; else a failure or a hang of either
// fails the pair; else wrong values or the slower side's times do.
[[nodiscard]] PairResult judge(const Agreed& agreed, const std::array<Side, 2>& sides);

// The line of JSON that the command ends with: like a check's (result_files.h), with the status as
// the remediator looks for it in a Job's last words: "pass", "fail" or "error".
[[nodiscard]] std::string pair_result_line(const PairResult& verdict, const std::string& host,
                                           WallTime now);

}  // namespace gpuward::exporter::nccl_pair
