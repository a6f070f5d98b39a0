// AMD's device plugin in the tests: a Python client that is generated from another definition than
// the service, and a search for the service's process. Used by the tests of the service and of the
// exporter that runs it.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {

// Debian's Python, for which python3-grpcio is packaged. Another one may be first on PATH.
inline constexpr const char* kPython = "/usr/bin/python3";

// Returns "" if the client can run.
[[nodiscard]] inline std::string why_no_health_client() {
  if (!std::filesystem::exists(GPUWARD_BIN_DIR "/gpuward-amd-health")) {
    return "gpuward-amd-health is not built: run `./dev deps`";
  }
  const auto tried =
      support::Process::run({.argv = {kPython, "-c", "import grpc, google.protobuf.empty_pb2"}});
  if (!tried || tried->exit_code != 0) return "no python3-grpcio: run `./dev deps`";
  return support::why_no_program("protoc");
}

// Returns the output of health_client.py.
[[nodiscard]] inline std::string ask_health(const std::filesystem::path& socket,
                                            const std::string& package,
                                            const std::vector<std::string>& words) {
  std::vector<std::string> argv{
      kPython, GPUWARD_SOURCE_DIR "/tests/unit/exporter/amd_health/health_client.py",
      socket.string(), package};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto outcome =
      support::Process::run({.argv = argv, .env = {{"PYTHONDONTWRITEBYTECODE", "1"}}});
  return outcome ? outcome->output + outcome->error_output : outcome.error().message;
}

// Waits until health_client.py prints `wanted` for `list`.
[[nodiscard]] inline ::testing::AssertionResult lists_health(const std::filesystem::path& socket,
                                                             const std::string& package,
                                                             const std::string& wanted) {
  std::string last;
  const bool did =
      support::poll_until([&] { return (last = ask_health(socket, package, {"list"})) == wanted; });
  if (did) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the last answer was " << last;
}

// Returns the program that serves this socket; 0 for none.
[[nodiscard]] inline pid_t server_of(const std::filesystem::path& socket) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = parse_integer<pid_t>(entry.path().filename().string());
    const auto command = pid ? read_file(entry.path() / "cmdline") : Result<std::string>("");
    if (command && command->find(socket.string()) != std::string::npos) return *pid;
  }
  return 0;
}

}  // namespace gpuward::exporter
