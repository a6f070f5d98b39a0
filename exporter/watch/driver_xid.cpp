#include "exporter/watch/driver_xid.h"

#include "exporter/pods/users.h"
#include "exporter/watch/gpu_inventory.h"

namespace gpuward::exporter {
namespace {

// 74: the registers; 144-150: unit and sub-code; 154: the action that the driver asks for.
bool needs_its_line(std::uint32_t code) {
  return code == 74 || (code >= 144 && code <= 150) || code == 154;
}

// Returns the UUIDs of the affected MIG instance; empty if the Xid names none, or none is known.
std::vector<std::string> mig_uuids(const GpuXid& xid, const Gpu& gpu, const Snapshot& snapshot) {
  std::vector<std::string> uuids;
  const GpuReading* const reading = reading_of(gpu, snapshot.telemetry);
  if (!xid.gpu_instance || reading == nullptr) return uuids;
  for (const MigInstance& mig : reading->mig_instances) {
    const bool is_part = !xid.compute_instance || mig.compute_instance == *xid.compute_instance;
    if (mig.gpu_instance == *xid.gpu_instance && is_part) uuids.push_back(mig.uuid);
  }
  return uuids;
}

std::string workload_hit(const GpuXid& xid, const Gpu& gpu, const Snapshot& snapshot) {
  const std::vector<std::string> migs = mig_uuids(xid, gpu, snapshot);
  return migs.empty() ? workload_of(gpu, snapshot)
                      : workload_of(users_of(migs, snapshot.workloads));
}

xid::Assessment judge(const xid::Event& event, const Policy& policy, const Gpu* gpu) {
  xid::Assessment verdict = policy.catalogue->judge(event, gpu != nullptr ? gpu->name : "");
  const bool is_undecided = needs_its_line(event.code) && verdict.source != "override";
  if (is_undecided && verdict.severity > Severity::kMonitor) {
    verdict.severity = Severity::kMonitor;
    verdict.why = "The kernel log line decides the severity; the driver's event has no text";
  }
  return verdict;
}

}  // namespace

Observation observe_xid(const GpuXid& xid, const Policy& policy, const Snapshot& snapshot) {
  Observation observation;
  xid::Event& event = observation.event;
  event.kind = xid::Kind::kXid;
  event.code = xid.code;
  event.pci = parse_pci_address(xid.pci_bus_id);
  event.gpu_instance = xid.gpu_instance;
  event.compute_instance = xid.compute_instance;
  const Gpu* const gpu = find_gpu(snapshot.gpus, event.pci);
  observation.verdict = judge(event, policy, gpu);
  observation.line =
      "Xid " + std::to_string(xid.code) + " on " + xid.pci_bus_id + ", reported by the driver";
  observation.seen = xid.seen;
  observation.evidence = Evidence::kKernel;
  observation.is_driver_event = true;
  if (gpu != nullptr) observation.workload = workload_hit(xid, *gpu, snapshot);
  return observation;
}

}  // namespace gpuward::exporter
