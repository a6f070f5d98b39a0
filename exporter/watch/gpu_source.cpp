#include "exporter/watch/gpu_source.h"

#include <utility>

#include "exporter/gpu/report/library.h"
#include "exporter/gpu/simulated_source.h"
#include "exporter/gpu/worker/worker_source.h"

namespace gpuward::exporter {
namespace {

// This program itself, even after its file has been replaced.
constexpr const char* kOwnProgram = "/proc/self/exe";

// Each value is a separate argument: behind a `=` an empty one would take the next argument.
std::vector<std::string> worker_argv(const LibraryPaths& paths) {
  return {kOwnProgram,
          "gpu-worker",
          "--gpu.nvml-library",
          paths.nvml,
          "--gpu.driver-root",
          paths.driver_root,
          "--gpu.amd-smi-library",
          paths.amd_smi,
          "--gpu.amd-cper",
          paths.reads_amd_cper ? "on" : "off",
          "--path.sysfs",
          paths.sys};
}

WorkerOptions worker_options(const LibraryPaths& paths) {
  LibraryPaths without_records = paths;
  without_records.reads_amd_cper = false;
  return {.argv = worker_argv(paths),
          .description = "worker process, " + paths.nvml + ", " + paths.amd_smi,
          .error_records = Dispensable{.progress = std::string(kErrorRecordsProgress),
                                       .argv = worker_argv(without_records)}};
}

// For --gpu.none: there is no driver to query. Xids are counted by address.
class NoGpus final : public GpuSource {
 public:
  explicit NoGpus(Clock& clock) : clock_(clock) {
    telemetry_.state = WorkerState::kAnswering;
    telemetry_.is_asked = false;
    telemetry_.report = std::make_shared<const GpuReport>();
    telemetry_.read_at = clock.wall();
  }
  bool wait(std::chrono::milliseconds limit, const std::stop_token& stop) override {
    clock_.sleep_for(limit, stop);
    return false;
  }
  [[nodiscard]] GpuTelemetry telemetry() const override { return telemetry_; }
  [[nodiscard]] std::vector<GpuXid> take_xids() override { return {}; }
  void hurry() override {}
  void set_released(bool /*is_released*/) override {}
  [[nodiscard]] bool has_let_go() const override { return true; }
  [[nodiscard]] std::string describe() const override { return "none: the driver is not queried"; }

 private:
  Clock& clock_;
  GpuTelemetry telemetry_;
};

}  // namespace

Result<std::unique_ptr<GpuSource>> make_gpu_source(const Flags& flags, CurrentGpuTimes times,
                                                   Clock& clock, Log& log) {
  if (flags.has_no_gpus) return std::make_unique<NoGpus>(clock);
  if (!flags.gpu_simulate_file.empty()) {
    auto source = SimulatedSource::open(flags.gpu_simulate_file, std::move(times), clock);
    if (!source) return std::unexpected(source.error());
    return *std::move(source);
  }
  return std::make_unique<WorkerSource>(worker_options(flags.libraries), std::move(times), clock,
                                        log);
}

}  // namespace gpuward::exporter
