#include "remediator/model/milestone.h"

#include <cstddef>

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, kAllMilestones.size()> kMilestones = {
    "accepted", "tainted", "cordoned", "drained", "acted", "recovered"};

}  // namespace

std::string_view to_string(Milestone milestone) {
  return kMilestones[static_cast<std::size_t>(milestone)];
}

std::optional<Milestone> parse_milestone(std::string_view text) {
  for (const Milestone milestone : kAllMilestones) {
    if (to_string(milestone) == text) return milestone;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
