// Programs of others that `./dev` builds once, each in the version that its go.mod in tests names.
// Used by the tests that start them, some of them beside the older one of Debian.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/places.inc"
#include "tests/support/cache_folder.h"
#include "tests/support/require.h"

namespace gpuward::support {

struct Neighbour {
  const char* folder;   // below tests
  const char* module;   // the end of its name
  const char* built;    // the folder in the cache, before its version
  const char* command;  // that builds it
};

inline constexpr Neighbour kKubernetes{"controlplane", "k8s.io/kubernetes", "kubernetes",
                                       "./dev deps --all"};
inline constexpr Neighbour kOperator{"operator", "/prometheus-operator", "prometheus-operator",
                                     "./dev deps --all"};
inline constexpr Neighbour kPrometheus{"prometheus", "/prometheus/prometheus", "prometheus",
                                       "./dev deps --all"};
inline constexpr Neighbour kAlertmanager{"alertmanager", "/prometheus/alertmanager", "alertmanager",
                                         "./dev deps --all"};
inline constexpr Neighbour kLoki{"loki", "/grafana/loki/v3", "loki", "./dev test --loki"};

[[nodiscard]] inline std::string version_of(const Neighbour& neighbour) {
  std::ostringstream pins;
  pins << std::ifstream(GPUWARD_SOURCE_DIR "/tests/" + std::string(neighbour.folder) + "/go.mod")
              .rdbuf();
  const std::string text = pins.str();
  std::smatch found;
  const std::regex pin(std::string(neighbour.module) + R"( v([0-9.]+))");
  return std::regex_search(text, found, pin) ? found[1].str() : "";
}

[[nodiscard]] inline std::filesystem::path folder_of(const Neighbour& neighbour) {
  return cache_folder() / (std::string(neighbour.built) + "-" + version_of(neighbour));
}

// Empty where the program is there. For GPUWARD_REQUIRE.
[[nodiscard]] inline std::string why_not_built(const Neighbour& neighbour,
                                               const std::string& program) {
  if (std::filesystem::exists(folder_of(neighbour) / program)) return {};
  return "no `" + program + "` of " + neighbour.built + " " + version_of(neighbour) +
         " on this machine: run `" + neighbour.command + "`";
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
