// The milestones that a Remediation has passed, from which the times since the fault are reported.
// Kept in its status, so that each is reported once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator {

enum class Milestone : std::uint8_t {
  kAccepted,  // the alert is in the API server
  kTainted,
  kCordoned,
  kDrained,
  kActed,     // the GPUs were reset, or the machine restarted or replaced
  kRecovered  // back in service, or a replacement is
};

inline constexpr std::array kAllMilestones = {Milestone::kAccepted, Milestone::kTainted,
                                              Milestone::kCordoned, Milestone::kDrained,
                                              Milestone::kActed,    Milestone::kRecovered};

[[nodiscard]] std::string_view to_string(Milestone milestone);  // "accepted", ..., "recovered"
[[nodiscard]] std::optional<Milestone> parse_milestone(std::string_view text);

}  // namespace gpuward::remediator
