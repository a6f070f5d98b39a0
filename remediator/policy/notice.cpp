#include "remediator/policy/notice.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 8> kMoments = {"opened", "step",   "approval", "escalated",
                                                      "held",   "paused", "closed",   "notify"};

}  // namespace

std::string_view to_string(Moment moment) { return kMoments[static_cast<std::size_t>(moment)]; }

std::optional<Moment> parse_moment(std::string_view text) {
  const auto found = std::ranges::find(kMoments, text);
  if (found == kMoments.end()) return std::nullopt;
  return static_cast<Moment>(found - kMoments.begin());
}

}  // namespace gpuward::remediator
