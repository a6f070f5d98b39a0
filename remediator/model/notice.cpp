#include "remediator/model/notice.h"

#include <array>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 8> kMoments = {"opened", "step",   "approval", "escalated",
                                                      "held",   "paused", "closed",   "notify"};

}  // namespace

std::string_view to_string(Moment moment) { return kMoments[static_cast<std::size_t>(moment)]; }

std::optional<Moment> parse_moment(std::string_view text) {
  return enumerator_of<Moment>(kMoments, text);
}

}  // namespace gpuward::remediator
