// A notification about a Remediation, for people or other programs. It is written into the status
// in the same write as its subject, and removed once it is delivered: after a crash in between it
// is delivered again rather than lost.
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

// kNotify: the step `notify` of a plan; gpuward raises the others by itself.
enum class Moment : std::uint8_t {
  kOpened,     // the Remediation is new or worse, and its steps are decided
  kStep,       // a step is done or has failed
  kApproval,   // a step waits for approval
  kEscalated,  // the steps so far did not help: those of a worse severity follow
  kHeld,
  kPaused,
  kClosed,
  kNotify
};

inline constexpr std::array kAllMoments = {Moment::kOpened, Moment::kStep,      Moment::kApproval,
                                           Moment::kHeld,   Moment::kEscalated, Moment::kPaused,
                                           Moment::kClosed, Moment::kNotify};

[[nodiscard]] std::string_view to_string(Moment moment);  // "opened", ..., "notify"
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

// The state at that moment. The id is the same in every repeat.
struct Notice {
  std::string id;
  Moment moment = Moment::kOpened;
  std::vector<std::string> sinks;  // names of the sinks that get it
  std::chrono::system_clock::time_point at;
  Severity severity = Severity::kNone;
  std::string step, phase, mode;  // as the status writes them; step is empty if the notice is not
                                  // about one
  std::string message;
  bool drill = false;  // all alerts of the node came from injected faults

  friend bool operator==(const Notice&, const Notice&) = default;
};

// The most notices of one Remediation; one more replaces the oldest.
inline constexpr std::size_t kMaxNotices = 64;

}  // namespace gpuward::remediator
