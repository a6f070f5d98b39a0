// Starts a Prometheus for the tests that query a real one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/neighbours.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::remediator {

// Its data is in the folder. It answers a while after this returns.
inline Result<std::unique_ptr<support::Process>> spawn_prometheus(
    const std::string& which, const support::TempDir& folder, const std::filesystem::path& config,
    int port) {
  return support::Process::spawn(
      {.argv = {support::program_of(which, "prometheus"), "--config.file=" + config.string(),
                "--storage.tsdb.path=" + folder.path().string() + "/db",
                "--web.listen-address=127.0.0.1:" + std::to_string(port)}});
}

}  // namespace gpuward::remediator
