// The milestones that a Remediation has passed. The times since the fault are reported from them.
// The status records them, so that each milestone is reported once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator {

enum class Milestone : std::uint8_t {
  kAccepted,  // The API server has the alert.
  kTainted,
  kCordoned,
  kDrained,
  kActed,     // The GPUs were reset, or the machine was restarted or replaced.
  kRecovered  // The node or its replacement is in service.
};

inline constexpr std::array kAllMilestones = {Milestone::kAccepted, Milestone::kTainted,
                                              Milestone::kCordoned, Milestone::kDrained,
                                              Milestone::kActed,    Milestone::kRecovered};

// Returns "accepted", ..., "recovered".
[[nodiscard]] std::string_view to_string(Milestone milestone);
[[nodiscard]] std::optional<Milestone> parse_milestone(std::string_view text);

}  // namespace gpuward::remediator
