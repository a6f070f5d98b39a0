// Other projects' programs that `./dev` builds once, in the version that tests/neighbours pins.
// Used by the tests that start them; some tests also start Debian's older version.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/cache_folder.h"
#include "tests/support/require.h"

namespace gpuward::support {

struct Neighbour {
  std::string_view name;    // in the table of tests/neighbours
  std::string_view folder;  // in the cache: it ends with the version
};

inline constexpr Neighbour kNeighbours[] = {
// CMake makes it from the output of `tests/neighbours/neighbours list`.
#include "tests/neighbours.inc"
};

[[nodiscard]] consteval Neighbour neighbour(std::string_view name) {
  for (const Neighbour& one : kNeighbours) {
    if (one.name == name) return one;
  }
  throw "tests/neighbours has no such program";  // an error of the compiler
}

inline constexpr Neighbour kKubernetes = neighbour("api-server");
inline constexpr Neighbour kHelm = neighbour("helm");
inline constexpr Neighbour kOperator = neighbour("prometheus-operator");
inline constexpr Neighbour kPrometheus = neighbour("prometheus");
inline constexpr Neighbour kAlertmanager = neighbour("alertmanager");
inline constexpr Neighbour kKarpenter = neighbour("karpenter");
inline constexpr Neighbour kLoki = neighbour("loki");
inline constexpr Neighbour kMoto = neighbour("moto");
inline constexpr Neighbour kCycloneDx = neighbour("cyclonedx");

// The text after the first hyphen before a digit: "kube-router-2.1.0", "civetweb-1.15+dfsg-4".
[[nodiscard]] inline std::string version_of(const Neighbour& neighbour) {
  const std::string_view folder = neighbour.folder;
  for (std::size_t i = 1; i < folder.size(); ++i) {
    if (folder[i - 1] == '-' && folder[i] >= '0' && folder[i] <= '9')
      return std::string(folder.substr(i));
  }
  return {};
}

[[nodiscard]] inline std::filesystem::path folder_of(const Neighbour& neighbour) {
  return cache_folder() / neighbour.folder;
}

// Empty if the program exists. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_not_built(const Neighbour& neighbour,
                                               const std::string& program) {
  if (std::filesystem::exists(folder_of(neighbour) / program)) return {};
  const char* const command =
      neighbour.name == kLoki.name ? "./dev test --loki" : "./dev deps --all";
  return "no `" + program + "` of " + std::string(neighbour.folder) + " on this machine: run `" +
         command + "`";
}

// The version on which a case runs.
inline constexpr const char* kDebians = "Debians";
inline constexpr const char* kNewer = "Newer";
[[nodiscard]] inline Tier tier_of(std::string_view which) {
  return which == kDebians ? Tier::kTest : Tier::kAll;
}

// `program` is the name in Debian.
[[nodiscard]] inline std::string newer_name(const std::string& program) {
  return program == "prometheus-alertmanager" ? "alertmanager" : program;
}
[[nodiscard]] inline const Neighbour& neighbour_with(const std::string& program) {
  return program == "prometheus" || program == "promtool" ? kPrometheus : kAlertmanager;
}
[[nodiscard]] inline std::string program_of(const std::string& which, const std::string& program) {
  if (which == kDebians) return program;
  return folder_of(neighbour_with(program)) / newer_name(program);
}
[[nodiscard]] inline std::string why_no_program_of(const std::string& which,
                                                   const std::string& program) {
  if (which == kDebians) return why_no_program(program);
  return why_not_built(neighbour_with(program), newer_name(program));
}

// Runs the suite with each of them.
#define GPUWARD_ON_DEBIANS_AND_NEWER(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Each, suite, ::testing::Values(support::kDebians, support::kNewer), \
                           [](const auto& each) { return std::string(each.param); })

}  // namespace gpuward::support
