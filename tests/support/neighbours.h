// Programs of others that `./dev` builds once, each in the version that tests/neighbours pins. Used
// by the tests that start them, some of them beside the older one of Debian.
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
// CMake makes it from what `tests/neighbours/neighbours list` prints.
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

// What follows the first hyphen before a digit: "kube-router-2.1.0", "civetweb-1.15+dfsg-4".
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

// Empty where the program is there. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_not_built(const Neighbour& neighbour,
                                               const std::string& program) {
  if (std::filesystem::exists(folder_of(neighbour) / program)) return {};
  const char* const command =
      neighbour.name == kLoki.name ? "./dev test --loki" : "./dev deps --all";
  return "no `" + program + "` of " + std::string(neighbour.folder) + " on this machine: run `" +
         command + "`";
}

// Which of two versions a case runs on.
inline constexpr const char* kDebians = "Debians";
inline constexpr const char* kNewer = "Newer";
[[nodiscard]] inline Tier tier_of(std::string_view which) {
  return which == kDebians ? Tier::kTest : Tier::kAll;
}

// `program` by the name that Debian gives to it.
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

// The suite with each of them.
#define GPUWARD_ON_DEBIANS_AND_NEWER(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Each, suite, ::testing::Values(support::kDebians, support::kNewer), \
                           [](const auto& each) { return std::string(each.param); })

}  // namespace gpuward::support
