// A reset of all GPUs of this node in place, by the vendor's own program. Each vendor has a file
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
  static constexpr int kNoSuchProgram = 127;  // as a shell says it
  int exit_code = 0;  // of the vendor's program; kFailed if gpuward did not call it
  std::string words;  // of that program, and of gpuward: lines
  std::optional<WallTime> ended = {};  // when that program had ended; nullopt: it was not called
};

struct GpuUse {
  enum class Kind : std::uint8_t { kNone, kSome, kCannotTell };
  Kind kind = Kind::kNone;
  std::string words;  // in one line
};

// What both vendors need. One thread.
class GpuResetTools {
 public:
  // `clock` must outlive it. Programs are ended at `ends`, and if `stop` is requested.
  GpuResetTools(HostPaths host, Clock& clock, Clock::Steady ends, std::stop_token stop)
      : host_(std::move(host)), clock_(clock), ends_(ends), stop_(std::move(stop)) {}

  // A program of PATH, for `limit` or until `ends`. 128 and the number of the signal if one has
  // ended it.
  [[nodiscard]] GpuReset call(const std::string& program, std::vector<std::string> arguments,
                              std::chrono::milliseconds limit) const;
  // The same, for the program that resets GPUs: after a stop it has time to end by itself. Not
  // after refusal().
  [[nodiscard]] GpuReset call_reset(const std::string& program,
                                    std::vector<std::string> arguments) const;
  // The same after a stop was requested too: for what has to be as it was.
  [[nodiscard]] GpuReset call_anyway(const std::string& program, std::vector<std::string> arguments,
                                     std::chrono::milliseconds limit) const;
  // Looks until no process other than gpuward's exporter has a GPU open, for a minute at most. Ends
  // at once if it cannot tell, or a stop was requested.
  [[nodiscard]] GpuUse wait_until_unused() const;
  // Between two looks, and two tries. False if a stop was requested.
  [[nodiscard]] bool pause() const;
  // Who has a GPU open, in one line.
  [[nodiscard]] std::string users() const;
  [[nodiscard]] const HostPaths& host() const { return host_; }
  [[nodiscard]] Clock& clock() const { return clock_; }
  // Why the vendor's program is not called, after a look at users: a stop was requested, or too
  // little time is left for a reset. nullopt: it may be called.
  [[nodiscard]] std::optional<GpuReset> refusal(const GpuUse& use) const;

 private:
  [[nodiscard]] std::chrono::milliseconds left() const;

  HostPaths host_;
  Clock& clock_;
  Clock::Steady ends_;
  std::stop_token stop_;
};

// Services of systemd on the node, stopped until start_again(): those of `units` that run.
class PausedUnits {
 public:
  // `tools` must outlive it.
  PausedUnits(const GpuResetTools& tools, const std::vector<std::string>& units);
  // What systemctl said of those that it could not stop or start: lines.
  [[nodiscard]] std::string start_again();

 private:
  const GpuResetTools& tools_;
  std::vector<std::string> stopped_;
  std::string words_;
};

// Takes the GPUs' persistence mode, an attachment of the driver, away for the reset and gives it
// back. Waits for users of GPUs and calls nvidia-smi, which refuses while there is one; a second
// time if it has. Sockets of the machine that nvidia-smi looks for below `run` are linked there
// meanwhile.
[[nodiscard]] GpuReset reset_nvidia_gpus(const GpuResetTools& tools,
                                         const std::filesystem::path& run = "/run");

// AMD's programs and its driver reset a GPU that is in use too, so that gpuward does not call them
// unless it knows that there is no user.
[[nodiscard]] GpuReset reset_amd_gpus(const GpuResetTools& tools);

}  // namespace gpuward::exporter
