// A notification about a Remediation, for people or other programs. The write that changes the
// status also adds the notice, and gpuward removes the notice after delivery. After a crash in
// between, gpuward delivers the notice again, so that it is not lost.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/severity.h"

namespace gpuward::remediator {

// The occasion of a notice. kNotify comes from the step `notify` of a plan; gpuward raises all
// others by itself.
enum class Moment : std::uint8_t {
  kOpened,     // The Remediation is new or worse, and its steps are decided.
  kStep,       // A step is done or has failed.
  kApproval,   // A step waits for approval.
  kEscalated,  // The steps so far did not help, and the steps of a worse severity follow.
  kHeld,
  kPaused,
  kClosed,
  kNotify
};

inline constexpr std::array kAllMoments = {Moment::kOpened, Moment::kStep,      Moment::kApproval,
                                           Moment::kHeld,   Moment::kEscalated, Moment::kPaused,
                                           Moment::kClosed, Moment::kNotify};

[[nodiscard]] std::string_view to_string(Moment moment);  // Returns "opened", ..., "notify".
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

// The state at the moment of the notice. The id is the same in every repeat.
struct Notice {
  std::string id;
  Moment moment = Moment::kOpened;
  std::vector<std::string> sinks;  // Names of the sinks that get the notice.
  std::chrono::system_clock::time_point at;
  Severity severity = Severity::kNone;
  // As the status writes them; step is empty if the notice is not about a step.
  std::string step, phase, mode;
  std::string message;
  bool drill = false;  // All alerts of the node came from injected faults.

  friend bool operator==(const Notice&, const Notice&) = default;
};

// Limit for the notices of one Remediation; a further notice replaces the oldest.
inline constexpr std::size_t kMaxNotices = 64;

}  // namespace gpuward::remediator
