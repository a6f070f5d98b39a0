// What a language model may answer about a line, and nothing else: one JSON object with a class out
// of a fixed list, how sure it is, and a short reason. Nodes, steps and severities are no part of
// it. Pure; used by triage/triage.
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
  std::string reason;  // for people, and for them alone
};

// kInvalid for anything but such an object: other text around it, a key more or less, another type,
// an unknown class, a reason that is too long.
[[nodiscard]] Result<Advice> read_advice(std::string_view answer);

}  // namespace gpuward::remediator
