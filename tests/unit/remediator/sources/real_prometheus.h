// A Prometheus for the tests that ask a real one: Debian's, and the newer one of `./dev cluster`.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::remediator {

inline constexpr const char* kDebians = "Debians";
inline constexpr const char* kNewer = "Newer";

inline std::filesystem::path prometheus_program(const std::string& which) {
  if (which == kDebians) return "prometheus";
  const char* folder = std::getenv("PROMETHEUS_DIR");
  return std::filesystem::path(folder == nullptr ? "" : folder) / "prometheus";
}

// Empty where it can be started.
inline std::string why_no_prometheus(const std::string& which) {
  if (which == kDebians) return support::why_no_program("prometheus");
  if (std::filesystem::exists(prometheus_program(which))) return {};
  return "no program `prometheus` in PROMETHEUS_DIR: run `./dev deps --all`";
}

// With its data in the folder; it answers a while later.
inline Result<std::unique_ptr<support::Process>> spawn_prometheus(
    const std::string& which, const support::TempDir& folder, const std::filesystem::path& config,
    int port) {
  return support::Process::spawn(
      {.argv = {prometheus_program(which).string(), "--config.file=" + config.string(),
                "--storage.tsdb.path=" + folder.path().string() + "/db",
                "--web.listen-address=127.0.0.1:" + std::to_string(port)}});
}

// The suite with each of them.
#define GPUWARD_WITH_EACH_PROMETHEUS(suite)                                        \
  INSTANTIATE_TEST_SUITE_P(Prometheus, suite, ::testing::Values(kDebians, kNewer), \
                           [](const auto& each) { return std::string(each.param); })

}  // namespace gpuward::remediator
