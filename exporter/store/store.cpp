#include "exporter/store/store.h"

#include <algorithm>
#include <utility>

#include "exporter/host/instance_type.h"

namespace gpuward::exporter {
namespace {

void add(LogNumbers& sum, const LogNumbers& more) {
  sum.lines += more.lines;
  sum.bytes += more.bytes;
  sum.gaps += more.gaps;
  sum.lost_records += more.lost_records;
  sum.user_space_lines += more.user_space_lines;
  sum.history_events += more.history_events;
  sum.unknown_headers += more.unknown_headers;
  sum.parse_time += more.parse_time;
}

}  // namespace

void Store::bump() {
  ++version_;
  changed_.notify_all();
}

void Store::apply(const LogBatch& batch) {
  const std::lock_guard lock(mutex_);
  bool is_change = !batch.observations.empty();
  for (const Observation& observation : batch.observations) latched_.observe(observation);
  for (const xid::UuidLine& line : batch.uuids) is_change |= latched_.learn_uuid(line);
  latched_.set_position(batch.position);
  add(log_, batch.numbers);
  if (is_change) bump();
}

void Store::enter_boot(const std::string& boot_id, WallTime now) {
  const std::lock_guard lock(mutex_);
  latched_.enter_boot(boot_id, now);
  bump();
}

void Store::expire(WallTime now, std::chrono::milliseconds age) {
  const std::lock_guard lock(mutex_);
  if (latched_.expire(now, age)) bump();
}

std::vector<Finding> Store::clear(const ClearRequest& request, WallTime now) {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> cleared = latched_.clear(request, now);
  // An operator may have made it forget the EFA devices, so the present ones are counted again.
  if (instance_.efa_on_pci) latched_.machine().learn_efa_devices(*instance_.efa_on_pci);
  bump();  // rare, and check results may have changed too
  return cleared;
}

std::vector<std::string> Store::set_gpus(std::vector<Gpu> gpus, WallTime now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> swapped = latched_.set_gpus(gpus, now);
  gone_gpus_.insert(gone_gpus_.end(), gpus_.begin(), gpus_.end());
  gpus_ = std::move(gpus);
  std::erase_if(gone_gpus_, [&](const Gpu& gone) {
    return std::ranges::find(gpus_, gone.pci, &Gpu::pci) != gpus_.end();
  });
  bump();
  return swapped;
}

void Store::enter_machine(const Machine& machine) {
  const std::lock_guard lock(mutex_);
  latched_.enter_machine(machine);
}

void Store::learn_labelled_gpus(const GpuCounts& labelled) {
  const std::lock_guard lock(mutex_);
  if (latched_.state().machine.labelled == labelled) return;
  latched_.machine().learn_labelled(labelled);
  bump();
}

void Store::enter_telemetry(GpuTelemetry telemetry) {
  telemetry_ = std::move(telemetry);
  if (telemetry_.report)
    latched_.machine().learn_links(*telemetry_.report, latched_.state().boot_id);
}

void Store::set_telemetry(GpuTelemetry telemetry) {
  const std::lock_guard lock(mutex_);
  enter_telemetry(std::move(telemetry));
  bump();
}

void Store::set_telemetry(GpuTelemetry telemetry, const CheckResult& evaluated) {
  const std::lock_guard lock(mutex_);
  enter_telemetry(std::move(telemetry));
  constexpr bool kIsDiagnostic = false;
  latched_.apply_check(evaluated, kIsDiagnostic);
  bump();
}

void Store::apply_xids(const std::vector<Observation>& xids) {
  if (xids.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const Observation& xid : xids) latched_.observe(xid);
  bump();
}

void Store::apply_check(const CheckResult& result, bool is_diagnostic) {
  const std::lock_guard lock(mutex_);
  latched_.apply_check(result, is_diagnostic);
  bump();
}

void Store::set_workloads(Workloads workloads) {
  const std::lock_guard lock(mutex_);
  if (workloads_ == workloads) return;
  workloads_ = std::move(workloads);
  bump();
}

void Store::set_instance(InstanceFacts instance) {
  const std::lock_guard lock(mutex_);
  if (instance_ == instance) return;
  latched_.learn_instance_type(instance.type,
                               instance.source != to_string(InstanceTypeSource::kConfigured));
  if (instance.efa_on_pci) latched_.machine().learn_efa_devices(*instance.efa_on_pci);
  instance_ = std::move(instance);
  bump();
}

void Store::set_rdma(std::vector<RdmaReading> rdma) {
  const std::lock_guard lock(mutex_);
  if (rdma_ == rdma) return;
  rdma_ = std::move(rdma);
  bump();
}

void Store::set_announced(Announced announced, const std::optional<CheckResult>& found) {
  const std::lock_guard lock(mutex_);
  if (announced_ == announced && !found) return;
  announced_ = std::move(announced);
  constexpr bool kIsDiagnostic = false;
  if (found) latched_.apply_check(*found, kIsDiagnostic);
  bump();
}

void Store::set_drills(std::vector<Drill> drills) {
  const std::lock_guard lock(mutex_);
  drills_ = std::move(drills);
  bump();
}

void Store::update_health(const std::function<void(Health&)>& update) {
  const std::lock_guard lock(mutex_);
  const Health before = health_;
  update(health_);
  if (health_ != before) bump();
}

void Store::touch() {
  const std::lock_guard lock(mutex_);
  bump();
}

Snapshot Store::snapshot() const {
  const std::lock_guard lock(mutex_);
  return {.state = latched_.state(),
          .gpus = gpus_,
          .gone_gpus = gone_gpus_,
          .log = log_,
          .health = health_,
          .telemetry = telemetry_,
          .workloads = workloads_,
          .instance = instance_,
          .rdma = rdma_,
          .announced = announced_,
          .drills = drills_};
}

Health Store::health() const {
  const std::lock_guard lock(mutex_);
  return health_;
}

State Store::state() const {
  const std::lock_guard lock(mutex_);
  return latched_.state();
}

std::vector<Gpu> Store::gpus() const {
  const std::lock_guard lock(mutex_);
  return gpus_;
}

std::uint64_t Store::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::uint64_t Store::wait_for_change(std::uint64_t seen, std::chrono::milliseconds limit,
                                     const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, limit, [&] { return version_ != seen; });
  return version_;
}

}  // namespace gpuward::exporter
