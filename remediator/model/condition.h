// status.conditions of a Remediation, as Kubernetes has them, so that `kubectl wait` can wait for
// one. What each says follows from the phase; kept is only since when.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuward::remediator {

enum class ConditionType : std::uint8_t {
  kProgressing,  // the remediator is at it, and waits for nobody
  kHeld,         // nothing more is done without an operator
  kClosed
};

inline constexpr std::array kAllConditions = {ConditionType::kProgressing, ConditionType::kHeld,
                                              ConditionType::kClosed};

struct Condition {
  bool holds = false;
  std::chrono::system_clock::time_point since;

  friend bool operator==(const Condition&, const Condition&) = default;
};

[[nodiscard]] constexpr std::string_view to_string(ConditionType type) {
  constexpr std::array<std::string_view, kAllConditions.size()> kTypes = {"Progressing", "Held",
                                                                          "Closed"};
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace gpuward::remediator
