// The conclusion from the reports of both sides. Pure, and the same on both sides for the same
// reports. Used by Pair; its details are for operators, its status for the remediator.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/model/check_result.h"
#include "exporter/nccl_pair/message.h"

namespace gpuward::exporter::nccl_pair {

// kPass, kFail, or kError if the result says nothing about the two nodes.
struct PairResult {
  CheckStatus status = CheckStatus::kError;
  std::string details;  // valid UTF-8, at most 1 KiB
};

[[nodiscard]] PairResult could_not_tell(const std::string& details);

struct Side {
  std::string host;
  SideResult report;
};

// The terms on which both sides have agreed.
struct Agreed {
  unsigned gpus = 0;  // of a side
  int nccl_version = 0;
  double min_bus_bandwidth = 0;
  std::span<const std::uint64_t> sizes;
};

// `sides` by rank. If one of them is unknown, so is the result; else a failure or a hang of either
// fails the pair; else wrong values or the slower side's times do.
[[nodiscard]] PairResult judge(const Agreed& agreed, const std::array<Side, 2>& sides);

// The line of JSON with which the command ends: like a check's (result_files.h), with the status
// that the remediator reads from the end of the Job's output: "pass", "fail" or "error".
[[nodiscard]] std::string pair_result_line(const PairResult& verdict, const std::string& host,
                                           WallTime now);

}  // namespace gpuward::exporter::nccl_pair
