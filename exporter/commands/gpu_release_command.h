// `gpu-release`: runs a program that needs the GPUs for itself, such as nvidia-smi --gpu-reset,
// while this node's exporter holds none of them. Called by the Jobs of the step gpu-reset.
#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <stop_token>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

void add_gpu_release_command(CLI::App& app, Commands& commands);

struct ReleaseWish {
  std::chrono::seconds lasts{600};
  std::string why;                   // empty: the program's words
  std::vector<std::string> program;  // with its arguments; empty: waits for the end of its time
};

// The exit code of the program; kFailed if the exporter refuses, so that the program did not run.
// The program also runs if no exporter answers in time: it finds out itself whether a GPU is in
// use.
[[nodiscard]] int run_with_released_gpus(const std::filesystem::path& state_folder,
                                         const std::string& boot_id, const ReleaseWish& wish,
                                         Clock& clock, const std::stop_token& stop,
                                         std::ostream& out, std::ostream& err);

}  // namespace gpuward::exporter
