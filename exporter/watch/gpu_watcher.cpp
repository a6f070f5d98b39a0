#include "exporter/watch/gpu_watcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "exporter/watch/driver_xid.h"
#include "exporter/watch/gpu_inventory.h"

namespace gpuward::exporter {
namespace {

// The longest wait; news and a stop end it at once.
constexpr std::chrono::milliseconds kLongestSilence{15'000};
constexpr std::chrono::milliseconds kAfterFailure{1'000};

bool is_same(const Gpu& one, const Gpu& other) {
  return one.index == other.index && one.uuid == other.uuid && one.pci == other.pci &&
         one.serial == other.serial && one.name == other.name && one.vendor == other.vendor;
}

// Returns "libnvidia-ml.so.1 575.57.08"; empty if no vendor has a library here.
std::string libraries_of(const GpuReport& report) {
  std::string text;
  for (const VendorReading& vendor : report.vendors) {
    if (vendor.state != LibraryState::kReady) continue;
    if (!text.empty()) text += ", ";
    text += vendor.library;
    if (!vendor.driver_version.empty()) text += " " + vendor.driver_version;
  }
  return text;
}

}  // namespace

GpuWatcher::GpuWatcher(std::unique_ptr<GpuSource> source, Store& store, const CurrentPolicy& policy,
                       Clock& clock, Log& log, Evaluate evaluate, IsDriverLoaded is_driver_loaded)
    : source_(std::move(source)),
      store_(store),
      policy_(policy),
      clock_(clock),
      log_(log),
      evaluate_(std::move(evaluate)),
      is_driver_loaded_(std::move(is_driver_loaded)) {
  store_telemetry();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

GpuWatcher::~GpuWatcher() {
  thread_.request_stop();
  thread_.join();
}

void GpuWatcher::begin() {
  const std::lock_guard lock(mutex_);
  has_begun_ = true;
  changed_.notify_all();
}

void GpuWatcher::run(const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return has_begun_; });
  }
  while (!stop.stop_requested()) {
    try {
      if (!source_->wait(kLongestSilence, stop)) continue;
      store_xids();
      store_telemetry();
    } catch (const std::exception& error) {
      log_.error("Failed to process GPU readings", {{"error", error.what()}});
      clock_.sleep_for(kAfterFailure, stop);
    }
  }
  source_.reset();  // on this thread, because the worker ends with the thread that started it
}

void GpuWatcher::store_xids() {
  const std::vector<GpuXid> xids = source_->take_xids();
  if (xids.empty()) return;
  const std::shared_ptr<const Policy> policy = policy_.get();
  const Snapshot snapshot = store_.snapshot();
  std::vector<Observation> observations;
  observations.reserve(xids.size());
  for (const GpuXid& xid : xids) {
    const Observation& seen = observations.emplace_back(observe_xid(xid, *policy, snapshot));
    log_.warn("Driver reported Xid event",
              {{"code", std::to_string(xid.code)},
               {"pci_bus_id", xid.pci_bus_id},
               {"severity", std::string(to_string(seen.verdict.severity))}});
  }
  store_.apply_xids(observations);
}

void GpuWatcher::store_telemetry() {
  const GpuTelemetry telemetry = source_->telemetry();
  store_gpus(telemetry);
  store_fault(telemetry);
  if (!evaluate_) return store_.set_telemetry(telemetry);
  Snapshot snapshot = store_.snapshot();
  snapshot.telemetry = telemetry;
  store_.set_telemetry(telemetry, evaluate_(snapshot));
}

void GpuWatcher::store_gpus(const GpuTelemetry& telemetry) {
  if (telemetry.report == nullptr || telemetry.report == stored_) return;
  const bool is_first = stored_ == nullptr;
  stored_ = telemetry.report;
  say_libraries(telemetry);
  const std::vector<Gpu> known = store_.gpus();
  std::vector<Gpu> gpus = gpus_of(*telemetry.report, known);
  if (!is_first && std::ranges::equal(gpus, known, is_same)) return;
  log_.info("Read GPU inventory",
            {{"source", source_->describe()}, {"gpus", std::to_string(gpus.size())}});
  for (const std::string& bus_id : store_.set_gpus(std::move(gpus), clock_.wall())) {
    log_.warn("Board was replaced, dropped the state of the old one", {{"pci_bus_id", bus_id}});
  }
}

// Logs each change once. A library that does not work is logged as a fault instead.
void GpuWatcher::say_libraries(const GpuTelemetry& telemetry) {
  const bool is_none = telemetry.report->vendors.empty();
  std::string libraries = is_none ? "none" : libraries_of(*telemetry.report);
  if (libraries == said_libraries_) return;
  if (is_none) {
    log_.info("No GPU library found", {{"source", source_->describe()}});
  } else if (!libraries.empty()) {
    log_.info("GPU library is ready", {{"libraries", libraries}});
  }
  said_libraries_ = std::move(libraries);
}

void GpuWatcher::store_fault(const GpuTelemetry& telemetry) {
  const std::optional<std::string> fault = inventory_fault_of(telemetry);
  const auto lost =
      lost_library_.look(telemetry, is_driver_loaded_ && is_driver_loaded_(), clock_.steady(),
                         policy_.get()->settings.checks.library_timeout);
  store_.update_health([&](Health& health) {
    health.inventory_fault = fault;
    health.lost_library = lost;
  });
  const bool is_starting = telemetry.report == nullptr && telemetry.fault.empty();
  if (fault == fault_ || is_starting) return;
  if (fault) {
    log_.error("Cannot read GPUs, keeping last known state",
               {{"error", *fault}, {"restarts", std::to_string(telemetry.restarts)}});
  } else {
    log_.info("Reading GPUs");
  }
  fault_ = fault;
}

}  // namespace gpuward::exporter
