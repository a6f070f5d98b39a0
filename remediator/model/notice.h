// Something about a Remediation that people or other programs are to be told: written into its
// status in the same write as what it is about, and taken out once it is told. What crashes in
// between tells it again, never not at all.
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

// kNotify: the step `notify` of a plan; the others happen by themselves.
enum class Moment : std::uint8_t {
  kOpened,     // the Remediation is new or worse, and what is to be done is decided
  kStep,       // a step is done or has failed
  kApproval,   // a step waits for approval
  kEscalated,  // what was done did not help: the steps of a worse severity follow
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

// As things stood then. The id stays the same however often it is told.
struct Notice {
  std::string id;
  Moment moment = Moment::kOpened;
  std::vector<std::string> sinks;  // that want it, by name
  std::chrono::system_clock::time_point at;
  Severity severity = Severity::kNone;
  std::string step, phase, mode;  // as the status writes them; step is empty where it is about none
  std::string message;
  bool drill = false;  // all alerts of the node were of injected faults

  friend bool operator==(const Notice&, const Notice&) = default;
};

// Of one Remediation; what comes when there are as many takes the place of the oldest.
inline constexpr std::size_t kMaxNotices = 64;

}  // namespace gpuward::remediator
