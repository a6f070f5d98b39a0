// Runs gpuward-amd-health as a child: sends it the health of the GPUs after every change, restarts
// it when it ends, and ends it with the exporter. Runs on a separate thread. The composition root
// creates it if amd.health_service.enabled or the PCI bus requires it.
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
  // The path at which AMD's device plugin looks for it.
  std::filesystem::path socket =
      "/var/lib/amd-metrics-exporter/amdgpu_device_metrics_exporter_grpc.socket";
  std::filesystem::path program =
      {};  // empty: gpuward-amd-health in the folder of the exporter's program
  // Served because the node has an AMD GPU, and not because an operator requested it: another
  // process, such as AMD's exporter, may own the socket permanently, which is logged once.
  bool is_by_default = false;
  HealthVendors vendors = HealthVendors::kAmdOnly;
  bool may_pretend_errors = false;  // --debug.allow-injection
};

class AmdHealthService {
 public:
  // Returns the current thresholds, by AMD's field; the service's thread.
  using CurrentThresholds = std::function<std::map<std::string, std::uint64_t>()>;

  // SIGPIPE must be ignored. All references must outlive it.
  AmdHealthService(AmdHealthOptions options, Store& store, CurrentThresholds thresholds,
                   Clock& clock, Log& log);
  ~AmdHealthService();  // ends the child, at the latest by SIGKILL after two seconds
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
  std::string told_;  // the last line sent to the child
  std::string last_failure_;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
