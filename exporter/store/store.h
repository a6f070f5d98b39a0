// The place that all sources write into and all publishers read from: the LatchedState behind a
// lock, with the GPUs, the numbers of the kernel log and the exporter's own health. Every call is
// short and does no I/O, so that no thread waits for the driver, disk or client of another.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/announcement.h"
#include "core/model/check_result.h"
#include "exporter/gpu/report/source.h"
#include "exporter/host/rdma_reading.h"
#include "exporter/kernel_log/source.h"
#include "exporter/store/drill.h"
#include "exporter/store/latched_state.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

// Counted since this process started.
struct LogNumbers {
  std::uint64_t lines = 0, bytes = 0, gaps = 0, lost_records = 0, user_space_lines = 0;
  std::uint64_t history_events = 0;  // from records that are history
  // Lines of a text log with a driver's message behind an unknown header.
  std::uint64_t unknown_headers = 0;
  std::chrono::nanoseconds parse_time{0};
};

// The state of the writes to the exporter's own Node object.
struct NodePublishing {
  std::optional<std::string> fault = "not written yet";  // nullopt: the node has the wanted state
  std::uint64_t failures = 0;                            // since the start
  WallTime last_success;    // last time that the node had the wanted state
  bool is_tainted = false;  // by this exporter, as last read or written
  bool operator==(const NodePublishing&) const = default;
};

// The state of the lines sent to Loki, since the start.
struct LokiPushing {
  std::optional<std::string> fault;  // of the last try; nullopt: it succeeded, or there was none
  std::uint64_t sent = 0, lost = 0;  // lines
  bool operator==(const LokiPushing&) const = default;
};

// A program that needs the GPUs for itself (watch/gpu_releases.h).
struct GpuRelease {
  std::string who, why;
  std::optional<WallTime> until;  // nullopt: no limit
  bool is_released = false;       // this exporter holds no GPU
  bool operator==(const GpuRelease&) const = default;
};

// The exporter's state of itself. A broken exporter says nothing about the GPUs.
struct Health {
  static constexpr std::string_view kNotReadYet = "not read yet";
  // Why the kernel log cannot be read; nullopt: it is read.
  std::optional<std::string> kernel_log_fault{kNotReadYet};
  std::optional<std::string> inventory_fault;
  std::optional<std::string> lost_library;  // why only a new container can read the GPUs
  std::optional<std::string> state_fault;   // why the last save failed
  // How the saved state was found at the start.
  enum class StateFound : std::uint8_t { kReadable, kPreviousCopy, kLost };
  StateFound state_found = StateFound::kReadable;
  bool was_last_reload_good = true;
  WallTime last_good_reload;
  std::vector<std::string> awaited;    // enabled quick checks without a result since the start
  std::optional<GpuRelease> release;   // the request that lasts longest
  std::optional<NodePublishing> node;  // nullopt: the exporter does not write to the node
  std::optional<LokiPushing> loki;     // nullopt: no lines are sent
  bool operator==(const Health&) const = default;
};

// The identity of this machine, its expected devices, and those on its PCI bus.
struct InstanceFacts {
  std::string type;    // "p5.48xlarge"; empty if unknown
  std::string source;  // "imds", "node label", "config"; empty before the first answer
  bool has_profile = false;
  std::optional<unsigned> gpus_expected = {}, efa_expected = {};  // by the profile
  // From sysfs, without a driver; absent if it cannot be read.
  std::optional<unsigned> gpus_on_pci = {}, efa_on_pci = {};
  bool operator==(const InstanceFacts&) const = default;
};

// The cloud's announcements for this machine.
struct Announced {
  std::string cloud;                 // "aws"; empty: in no known cloud
  bool is_read = false;              // since the start; if false, the announcements are unknown
  std::optional<std::string> fault;  // why the last reading failed; the known ones stay
  WallTime last_read;
  bool is_stale = false;           // the last successful reading is too old
  std::vector<Announcement> list;  // by start
  bool operator==(const Announced&) const = default;
};

struct Snapshot {
  State state;
  std::vector<Gpu> gpus;
  std::vector<Gpu> gone_gpus = {};  // listed by the driver since the start, but not now
  LogNumbers log;
  Health health;
  GpuTelemetry telemetry;
  Workloads workloads;
  InstanceFacts instance;
  std::vector<RdmaReading> rdma;
  Announced announced;
  std::vector<Drill> drills;  // beside the findings of `state`, never among them
};

// The result of one batch of the kernel log.
struct LogBatch {
  std::vector<Observation> observations;
  std::vector<xid::UuidLine> uuids;
  LogPosition position;  // where to continue after this batch
  LogNumbers numbers;    // of this batch alone
};

class Store {
 public:
  explicit Store(State initial) : latched_(std::move(initial)) {}

  // All functions may be called on any thread.
  void apply(const LogBatch& batch);
  void enter_boot(const std::string& boot_id, WallTime now);
  void expire(WallTime now, std::chrono::milliseconds age);
  std::vector<Finding> clear(const ClearRequest& request, WallTime now);  // those removed
  // Returns the bus ids of slots that have another board now. The old one's data is removed.
  std::vector<std::string> set_gpus(std::vector<Gpu> gpus, WallTime now);
  void enter_machine(const Machine& machine);
  void learn_labelled_gpus(const GpuCounts& labelled);
  void set_telemetry(GpuTelemetry telemetry);
  // Sets the telemetry together with the result of the rules, so that readers see both or neither.
  void set_telemetry(GpuTelemetry telemetry, const CheckResult& evaluated);
  // Xids of the driver's event set: each counts once, even if the kernel log has it too.
  void apply_xids(const std::vector<Observation>& xids);
  // The newest result of a check replaces the last one and the findings that it clears.
  // `is_diagnostic`: a pass removes the findings that diagnostics clear.
  void apply_check(const CheckResult& result, bool is_diagnostic);
  void set_workloads(Workloads workloads);
  void set_instance(InstanceFacts instance);
  void set_rdma(std::vector<RdmaReading> rdma);
  // `found` has the findings of the announcements; without it the findings stay as they are.
  void set_announced(Announced announced, const std::optional<CheckResult>& found);
  void set_drills(std::vector<Drill> drills);
  void update_health(const std::function<void(Health&)>& update);
  void touch();  // the policy has changed, which is rendered too

  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] Health health() const;
  [[nodiscard]] State state() const;
  [[nodiscard]] std::vector<Gpu> gpus() const;
  // Grows with each change that readers must see at once, but not with the numbers of the log and
  // the position.
  [[nodiscard]] std::uint64_t version() const;
  // Blocks until version() differs from `seen`, `limit` has passed, or a stop. Returns the version.
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds limit,
                                const std::stop_token& stop) const;

 private:
  // Both need the lock.
  void bump();
  void enter_telemetry(GpuTelemetry telemetry);

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  LatchedState latched_;
  std::vector<Gpu> gpus_, gone_gpus_;
  LogNumbers log_;
  Health health_;
  GpuTelemetry telemetry_;
  Workloads workloads_;
  InstanceFacts instance_;
  std::vector<RdmaReading> rdma_;
  Announced announced_;
  std::vector<Drill> drills_;
  std::uint64_t version_ = 1;
};

}  // namespace gpuward::exporter
