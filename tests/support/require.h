// Real parts that a machine may lack: a test that needs one starts with
//   GPUWARD_REQUIRE(ControlPlane::why_unavailable());
// and is skipped with that reason, or fails under GPUWARD_TEST_ALL=1 (`./dev test --all`).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/support/process.h"

namespace gpuward::support {

[[nodiscard]] inline bool nothing_may_be_skipped() {
  const char* value = std::getenv("GPUWARD_TEST_ALL");
  return value != nullptr && std::string_view(value) == "1";
}

// Empty where the program is there.
[[nodiscard]] inline std::string why_no_program(const std::string& name) {
  if (!find_program(name).empty()) return {};
  return "no program `" + name + "` on this machine: run `./dev deps`";
}

}  // namespace gpuward::support

#define GPUWARD_REQUIRE(why_not)                                                   \
  do {                                                                             \
    const std::string gpuward_why_not = (why_not);                                 \
    if (!gpuward_why_not.empty()) {                                                \
      if (::gpuward::support::nothing_may_be_skipped()) FAIL() << gpuward_why_not; \
      GTEST_SKIP() << gpuward_why_not;                                             \
    }                                                                              \
  } while (false)
