// The measurements of all_reduce by one side, and their evaluation for both sides. Two gpuwards
// must agree on sizes and rounds: a change of them changes kProtocolVersion (message.h). Used by
// Pair and by the verdict.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/nccl_pair/all_reduce.h"

namespace gpuward::exporter::nccl_pair {

constexpr std::array<std::uint64_t, 4> kSizes{128U << 20U, 256U << 20U, 512U << 20U,
                                              std::uint64_t{1} << 30U};  // bytes, out of place
constexpr unsigned kWarmUpRounds = 5;
constexpr unsigned kTimedRounds = 20;

// Returns the sizes that fit; empty if not even the first one does.
[[nodiscard]] std::span<const std::uint64_t> sizes_within(std::uint64_t bytes);

struct Figures {
  // The time of kTimedRounds together, until the slowest GPU of the side had ended; one for each
  // size.
  std::vector<std::uint64_t> nanoseconds;
  std::uint64_t wrong_values = 0;
};

// Measures the sizes one after the other. An error of the libraries, or kCancelled if `gives_up`
// returned true.
[[nodiscard]] Result<Figures> measure(AllReduce& all_reduce, std::span<const std::uint64_t> sizes,
                                      const GivesUp& gives_up, const Clock& clock);

struct BestSize {
  double bus_bandwidth = 0;  // GB/s, 10^9 bytes
  std::uint64_t bytes = 0;
};

// size / time * 2 (n - 1) / n with n GPUs of both sides (doc/PERFORMANCE.md of
// github.com/NVIDIA/nccl-tests at 03a204a), at the size with the best result; for each size, the
// time of the slower side counts.
[[nodiscard]] BestSize best_of(const Figures& left, const Figures& right, unsigned gpus);

// "1 GiB", "128 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace gpuward::exporter::nccl_pair
