// Resets all GPUs of this node in place, with the vendor's own program. Each vendor has a file
// (gpu_reset_nvidia.cpp, gpu_reset_amd.cpp). Called by the command gpu-reset while the exporter
// holds no GPU.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/finding.h"
#include "core/runtime/clock.h"
#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct GpuReset {
  static constexpr int kNoSuchProgram = 127;  // as in a shell
  int exit_code = 0;  // of the vendor's program; kFailed if gpuward did not call it
  std::string words;  // of that program and of gpuward: lines
  std::optional<WallTime> ended = {};  // end of that program; nullopt: it was not called
};

struct GpuUse {
  enum class Kind : std::uint8_t { kNone, kSome, kCannotTell };
  Kind kind = Kind::kNone;
  std::string words;  // in one line
};

// Tools that both vendors need. One thread.
class GpuResetTools {
 public:
  // `clock` must outlive it. It ends programs at `ends` and if `stop` is requested.
  GpuResetTools(HostPaths host, Clock& clock, Clock::Steady ends, std::stop_token stop)
      : host_(std::move(host)), clock_(clock), ends_(ends), stop_(std::move(stop)) {}

  // Runs a program of PATH for at most `limit` or until `ends`. The exit code is 128 plus the
  // number of the signal if a signal ended it.
  [[nodiscard]] GpuReset call(const std::string& program, std::vector<std::string> arguments,
                              std::chrono::milliseconds limit) const;
  // The same for the program that resets GPUs: after a stop it has time to end by itself. Not
  // allowed after a refusal().
  [[nodiscard]] GpuReset call_reset(const std::string& program,
                                    std::vector<std::string> arguments) const;
  // The same, but also after a stop was requested: for calls that restore a state.
  [[nodiscard]] GpuReset call_anyway(const std::string& program, std::vector<std::string> arguments,
                                     std::chrono::milliseconds limit) const;
  // Polls for a minute at most until no process except gpuward's exporter has a GPU open. Ends at
  // once if that is unknown or a stop was requested.
  [[nodiscard]] GpuUse wait_until_unused() const;
  // Waits between two polls or two tries. Returns false if a stop was requested or `ends` has come.
  [[nodiscard]] bool pause() const;
  // Returns the processes that have a GPU open, in one line.
  [[nodiscard]] std::string users() const;
  [[nodiscard]] const HostPaths& host() const { return host_; }
  [[nodiscard]] Clock& clock() const { return clock_; }
  // Returns why the vendor's program must not be called after wait_until_unused(): a stop was
  // requested, or too little time is left for a reset. nullopt: it may be called.
  [[nodiscard]] std::optional<GpuReset> refusal(const GpuUse& use) const;

 private:
  [[nodiscard]] std::chrono::milliseconds left() const;

  HostPaths host_;
  Clock& clock_;
  Clock::Steady ends_;
  std::stop_token stop_;
};

// Stops those of the systemd services `units` that are active on the node, until start_again().
class PausedUnits {
 public:
  // `tools` must outlive it.
  PausedUnits(const GpuResetTools& tools, const std::vector<std::string>& units);
  // Returns systemctl's messages for units that it could not stop or start: lines.
  [[nodiscard]] std::string start_again();

 private:
  const GpuResetTools& tools_;
  std::vector<std::string> stopped_;
  std::string words_;
};

// Turns the GPUs' persistence mode, which keeps the driver attached, off for the reset and then on
// again. Waits for users of GPUs and calls nvidia-smi, which refuses while there is a user, and
// calls it once more after a refusal. Links the machine's sockets that nvidia-smi needs below `run`
// for that time.
[[nodiscard]] GpuReset reset_nvidia_gpus(const GpuResetTools& tools,
                                         const std::filesystem::path& run = "/run");

// AMD's programs and its driver also reset a GPU that is in use, so gpuward calls them only if it
// knows that there is no user.
[[nodiscard]] GpuReset reset_amd_gpus(const GpuResetTools& tools);

}  // namespace gpuward::exporter
