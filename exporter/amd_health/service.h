// Runs gpuward-amd-health as a child: tells it the health of the GPUs whenever that changes, starts
// it again when it ends, and ends it with the exporter. On a thread of its own. Made by the
// composition root where amd.health_service.enabled or the PCI bus says so.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/amd_health/feed.h"
#include "exporter/gpu/worker/worker_process.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

struct AmdHealthOptions {
  // Where AMD's device plugin looks for it.
  std::filesystem::path socket =
      "/var/lib/amd-metrics-exporter/amdgpu_device_metrics_exporter_grpc.socket";
  std::filesystem::path program =
      {};  // empty: gpuward-amd-health beside the exporter's own program
  // Served because there is such a GPU, and not because an operator asked for it: another process,
  // such as AMD's exporter, may have the socket for good, which is logged once.
  bool is_by_default = false;
  HealthVendors vendors = HealthVendors::kAmdOnly;
  bool may_pretend_errors = false;  // --debug.allow-injection
};

class AmdHealthService {
 public:
  // The thresholds in force, by AMD's field; the service's thread.
  using CurrentThresholds = std::function<std::map<std::string, std::uint64_t>()>;

  // SIGPIPE has to be ignored. All references must outlive it.
  AmdHealthService(AmdHealthOptions options, Store& store, CurrentThresholds thresholds,
                   Clock& clock, Log& log);
  ~AmdHealthService();  // the child is gone, and its socket, within two seconds
  AmdHealthService(const AmdHealthService&) = delete;
  AmdHealthService& operator=(const AmdHealthService&) = delete;

 private:
  void run(const std::stop_token& stop);
  void start_if_due();
  void look_at_child();
  void tell();
  void fail_child(const std::string& why);
  void end_child();

  AmdHealthOptions options_;
  Store& store_;
  CurrentThresholds thresholds_;
  Clock& clock_;
  Log& log_;
  Backoff backoff_;
  Clock::Steady next_start_;
  Clock::Steady started_;
  std::unique_ptr<WorkerProcess> child_;
  std::string told_;  // what the child knows
  std::string last_failure_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
