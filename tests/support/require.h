// Real parts that a machine may lack, and the tiers of tests that have them. A case that needs one
// starts with
//   GPUWARD_REQUIRE(why_no_program("promtool"));
// or, if `./dev test` does without it, with the tier that has it:
//   GPUWARD_REQUIRE_IN(kLanding, ControlPlane::why_unavailable());
// A case of a higher tier is skipped. A part of its own tier or of a lower one may be missing in
// `./dev test` (the case is skipped and says why), and fails the case in the others.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/process.h"

namespace gpuward::support {

// Each tier includes the ones before it.
enum class Tier { kTest, kLanding, kAll };

struct TierNames {
  Tier tier;
  std::string_view name, command;
};
inline constexpr TierNames kTiers[] = {{Tier::kTest, "test", "`./dev test`"},
                                       {Tier::kLanding, "landing", "`.ci/run`"},
                                       {Tier::kAll, "all", "`./dev test --all`"}};

// $GPUWARD_TIER. Nothing if a test is run by hand: then each case runs whose parts exist.
[[nodiscard]] inline std::optional<Tier> running_tier() {
  const char* const value = std::getenv("GPUWARD_TIER");
  for (const TierNames& names : kTiers) {
    if (value != nullptr && names.name == value) return names.tier;
  }
  return std::nullopt;
}

[[nodiscard]] inline std::string_view command_of(Tier tier) {
  return kTiers[static_cast<std::size_t>(tier)].command;
}

[[nodiscard]] inline bool is_left_to(Tier tier) {
  const auto running = running_tier();
  return running && *running < tier;
}

[[nodiscard]] inline bool nothing_may_be_missing() {
  const auto running = running_tier();
  return running && *running >= Tier::kLanding;
}

// Empty if the program exists.
[[nodiscard]] inline std::string why_no_program(const std::string& name) {
  if (!find_program(name).empty()) return {};
  return "no program `" + name + "` on this machine: run `./dev deps`";
}

}  // namespace gpuward::support

#define GPUWARD_REQUIRE_IN(tier, why_not)                                          \
  do {                                                                             \
    using enum ::gpuward::support::Tier;                                           \
    if (::gpuward::support::is_left_to(tier))                                      \
      GTEST_SKIP() << "runs with " << ::gpuward::support::command_of(tier);        \
    const std::string gpuward_why_not = (why_not);                                 \
    if (!gpuward_why_not.empty()) {                                                \
      if (::gpuward::support::nothing_may_be_missing()) FAIL() << gpuward_why_not; \
      GTEST_SKIP() << gpuward_why_not;                                             \
    }                                                                              \
  } while (false)

#define GPUWARD_REQUIRE(why_not) GPUWARD_REQUIRE_IN(kTest, why_not)
