#include "exporter/nccl_pair/pair_result.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/checks/nccl/nccl_outcome.h"

namespace gpuward::exporter::nccl_pair {
namespace {

constexpr std::size_t kMostDetails = 1024;

PairResult verdict_of(CheckStatus status, const std::string& details) {
  return {status, to_valid_utf8(details, kMostDetails)};
}

bool any_side(const std::array<Side, 2>& sides, SideResult::Kind kind) {
  return std::ranges::any_of(sides, [&](const Side& side) { return side.report.kind == kind; });
}

// "ncclAllReduce: unhandled cuda error (node-a); ... (node-b)", for sides that have words: the
// cause precedes the host, because records of the text are cut at their end.
std::string failures_of(const std::array<Side, 2>& sides) {
  std::string words;
  for (const Side& side : sides) {
    if (side.report.words.empty() || side.report.kind == SideResult::Kind::kGaveUp) continue;
    words += (words.empty() ? "" : "; ") + side.report.words + " (" + side.host + ")";
  }
  return words;
}

PairResult judge_figures(const Agreed& agreed, const std::string& what,
                         const std::array<Side, 2>& sides) {
  for (const Side& side : sides) {
    if (side.report.figures.nanoseconds.size() != agreed.sizes.size())
      return could_not_tell(side.host + " measured other message sizes");
  }
  const auto& [first, second] = sides;
  const std::uint64_t wrong =
      first.report.figures.wrong_values + second.report.figures.wrong_values;
  if (wrong != 0)
    return verdict_of(CheckStatus::kFail, std::to_string(wrong) + " results are wrong; " + what);
  const BestSize best = best_of(first.report.figures, second.report.figures, 2 * agreed.gpus);
  const bool is_enough = best.bus_bandwidth >= agreed.min_bus_bandwidth;
  return verdict_of(is_enough ? CheckStatus::kPass : CheckStatus::kFail,
                    "bus bandwidth " + gigabytes_per_second(best.bus_bandwidth) + " at " +
                        size_text(best.bytes) + ", minimum is " +
                        gigabytes_per_second(agreed.min_bus_bandwidth) + "; " + what);
}

}  // namespace

PairResult could_not_tell(const std::string& details) {
  return verdict_of(CheckStatus::kError, details);
}

PairResult judge(const Agreed& agreed, const std::array<Side, 2>& sides) {
  if (any_side(sides, SideResult::Kind::kUnknown)) return could_not_tell(failures_of(sides));
  const std::string what = "all_reduce with NCCL " + nccl_version_text(agreed.nccl_version) +
                           " over " + std::to_string(agreed.gpus) + " GPUs on each of " +
                           sides[0].host + " and " + sides[1].host;
  if (any_side(sides, SideResult::Kind::kFailed) || any_side(sides, SideResult::Kind::kHangs))
    return verdict_of(CheckStatus::kFail, failures_of(sides) + "; " + what);
  if (any_side(sides, SideResult::Kind::kGaveUp)) return could_not_tell("stopped early; " + what);
  return judge_figures(agreed, what, sides);
}

std::string pair_result_line(const PairResult& verdict, const std::string& host, WallTime now) {
  return dump_json({{"timestamp", to_rfc3339(std::chrono::floor<std::chrono::seconds>(now))},
                    {"hostname", host},
                    {"check", "5-nccl-pair"},
                    {"status", to_string(verdict.status)},
                    {"details", verdict.details},
                    {"severity", ""}});
}

}  // namespace gpuward::exporter::nccl_pair
