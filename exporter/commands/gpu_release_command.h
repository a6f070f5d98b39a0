// `gpu-release`: runs a program that needs the GPUs for itself, such as a firmware update, while
// this node's exporter holds none of them. The command gpu-reset works the same way.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <stop_token>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_gpu_release_command(CLI::App& app, Commands& commands);

struct ReleaseWish {
  std::chrono::seconds lasts{600};
  std::string why;  // for the exporter's log and pages
};
// Must end before `ends`. Returns its exit code.
using ReleasedWork = std::function<int(Clock::Steady ends)>;

// Returns the exit code of the work, or kFailed without the work if the exporter refuses. The work
// also starts if no exporter answers in time: it finds out itself whether a GPU is in use.
[[nodiscard]] int run_with_released_gpus(const std::filesystem::path& state_folder,
                                         const std::string& boot_id, const ReleaseWish& wish,
                                         Clock& clock, const std::stop_token& stop,
                                         std::ostream& err, const ReleasedWork& work);

}  // namespace gpuward::exporter
