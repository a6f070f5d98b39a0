#include "exporter/nccl_pair/figures.h"

#include <algorithm>

namespace gpuward::exporter::nccl_pair {
namespace {

Result<std::uint64_t> timed_rounds(AllReduce& all_reduce, std::uint64_t bytes,
                                   const GivesUp& gives_up, const Clock& clock) {
  if (auto status = all_reduce.fill(bytes); !status) return std::unexpected(status.error());
  // The first rounds also synchronize the two sides.
  if (auto status = all_reduce.run(bytes, kWarmUpRounds, gives_up); !status)
    return std::unexpected(status.error());
  const auto begin = clock.steady();
  if (auto status = all_reduce.run(bytes, kTimedRounds, gives_up); !status)
    return std::unexpected(status.error());
  const std::chrono::nanoseconds took = clock.steady() - begin;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 1));
}

}  // namespace

std::span<const std::uint64_t> sizes_within(std::uint64_t bytes) {
  const auto end = std::ranges::upper_bound(kSizes, bytes);
  return {kSizes.begin(), end};
}

Result<Figures> measure(AllReduce& all_reduce, std::span<const std::uint64_t> sizes,
                        const GivesUp& gives_up, const Clock& clock) {
  Figures figures;
  for (const std::uint64_t bytes : sizes) {
    const auto took = timed_rounds(all_reduce, bytes, gives_up, clock);
    if (!took) return std::unexpected(took.error());
    figures.nanoseconds.push_back(*took);
    const auto wrong = all_reduce.wrong_values(bytes);
    if (!wrong) return std::unexpected(wrong.error());
    figures.wrong_values += *wrong;
  }
  return figures;
}

BestSize best_of(const Figures& left, const Figures& right, unsigned gpus) {
  BestSize best;
  const std::size_t sizes =
      std::min({kSizes.size(), left.nanoseconds.size(), right.nanoseconds.size()});
  for (std::size_t i = 0; i < sizes; ++i) {
    const auto slower = static_cast<double>(std::max(left.nanoseconds[i], right.nanoseconds[i]));
    // A byte per nanosecond is a GB per second.
    const double bandwidth = static_cast<double>(kSizes[i]) * kTimedRounds / slower;
    const double on_bus = bandwidth * 2 * (gpus - 1) / gpus;
    if (on_bus > best.bus_bandwidth) best = {on_bus, kSizes[i]};
  }
  return best;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = 1U << 20U;
  if (bytes % (kMiB << 10U) == 0) return std::to_string(bytes / (kMiB << 10U)) + " GiB";
  return std::to_string(bytes / kMiB) + " MiB";
}

}  // namespace gpuward::exporter::nccl_pair
