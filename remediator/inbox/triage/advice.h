// The only valid answer of a language model about a line: one JSON object with a class from a fixed
// list, a confidence, and a short reason. It has no nodes, steps or severities. Pure; used by
// inbox/triage/triage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "remediator/policy/triage_rules.h"

namespace gpuward::remediator {

// The classes of the monitor that gpuward replaces (model/error_class).
struct AdvisedClass {
  std::string_view name;
  std::optional<AdvisedSeverity> severity;  // none: nothing is wrong
};
[[nodiscard]] std::span<const AdvisedClass> advised_classes();

inline constexpr std::size_t kLongestReason = 200;
inline constexpr std::size_t kLongestAdvice = 1'000;  // the whole object, in bytes

struct Advice {
  AdvisedClass what;
  double confidence = 0;
  std::string reason;  // only for people
};

// kInvalid for anything but exactly such an object: other text around it, a missing or additional
// key, another type, an unknown class, a reason that is too long.
[[nodiscard]] Result<Advice> read_advice(std::string_view answer);

}  // namespace gpuward::remediator
