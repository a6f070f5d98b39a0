#include "remediator/inbox/sources/last_kernel_lines.h"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostLines = 3, kLongestLine = 120;
// How long before the silence a line may still be related to it.
constexpr std::chrono::minutes kBefore{15};

std::int64_t nanoseconds_of(WallTime time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

// Returns the streams of `selector` that belong to the node. Empty if it is not a selector.
std::string of_node(std::string selector, const std::string& label, const std::string& node) {
  const auto brace = selector.find('{');
  if (brace == std::string::npos) return {};
  return selector.insert(brace + 1, label + "=" + logql_quoted(node) + ", ");
}

}  // namespace

Result<std::string> LastKernelLines::of(const NodeSign& node) {
  const auto policy = policy_.get();
  const std::string query =
      of_node(policy->loki.kernel_selector, policy->loki.node_label, node.node);
  if (query.empty() || !node.since) return std::string();
  const auto answer = loki_.ask({.query = query,
                                 .start = nanoseconds_of(*node.since - kBefore),
                                 .end = nanoseconds_of(clock_.wall()) + 1,
                                 .limit = kMostLines,
                                 .is_newest = true});
  if (!answer) return std::unexpected(answer.error());
  if (answer->lines.empty()) return "Loki: no kernel line since 15 minutes before Ready changed";
  std::string text = "Loki: the last kernel lines are";
  for (const LogLine& line : answer->lines) {
    const WallTime at{std::chrono::floor<WallTime::duration>(std::chrono::nanoseconds(line.at))};
    text += (text.ends_with('"') ? ", " : " ") + to_rfc3339(at) + " \"" +
            to_valid_utf8(trim(line.text), kLongestLine) + '"';
  }
  return text;
}

}  // namespace gpuward::remediator
