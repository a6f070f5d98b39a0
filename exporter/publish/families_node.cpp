#include <algorithm>

#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

// Counts as the rules do (checks/expected_gpus.h).
std::optional<unsigned> gpus_expected(const Snapshot& snapshot) {
  if (snapshot.instance.gpus_expected) return snapshot.instance.gpus_expected;
  const KnownMachine& known = snapshot.state.machine;
  unsigned sum = 0;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd})
    sum += std::max(count_of(known.most, vendor), count_of(known.labelled, vendor));
  return sum == 0 ? std::nullopt : std::optional(sum);
}

// A vendor whose library is not usable may still have GPUs, so it has no number instead of 0.
void append_counted_by_driver(const GpuTelemetry& telemetry, Families& families) {
  auto& counted = declare(
      families, {"gpuward_gpus_counted_by_driver",
                 "GPUs that the driver lists, including lost ones. If fewer than on PCI, the "
                 "driver has lost a GPU; if fewer on PCI than expected, a card is missing.",
                 kGauge,
                 {"vendor"},
                 "when the library is not `ready` or does not answer"});
  const bool is_current = telemetry.report && telemetry.state == WorkerState::kAnswering;
  for (const VendorReading& report :
       is_current ? telemetry.report->vendors : std::vector<VendorReading>{}) {
    if (report.state == LibraryState::kReady)
      counted.add({to_string(report.vendor)}, report.gpus.size());
  }
}

}  // namespace

void append_node_families(const Snapshot& snapshot, Families& families) {
  const InstanceFacts& instance = snapshot.instance;
  auto& info = declare(families, {"gpuward_instance_info",
                                  "1; the instance type, and its source: `configured`, `imdsv2`, "
                                  "`imdsv1`, `node-label`, `firmware`, `remembered` (from before a "
                                  "restart, as long as no source answers).",
                                  kGauge,
                                  {"instance_type", "source"},
                                  "when it is unknown"});
  if (!instance.type.empty()) info.add({instance.type, instance.source}, 1);
  declare(families,
          {"gpuward_instance_profile_known",
           "Whether a profile defines the GPUs and EFA devices of this machine. At 0, the exporter "
           "expects the highest GPU count that it has seen or that the node's labels give, and the "
           "highest EFA count that it has seen."},
          instance.has_profile);
  declare(families,
          {"gpuward_gpus_expected",
           "GPUs that the machine must have: the number in its profile, or else the highest number "
           "that its driver has listed or that its node's labels give.",
           kGauge,
           {},
           "when it is unknown"},
          gpus_expected(snapshot));
  declare(families,
          {"gpuward_efa_devices_expected",
           "EFA devices that the machine must have.",
           kGauge,
           {},
           "without a profile"},
          instance.efa_expected);
  declare(families,
          {"gpuward_gpus_counted_on_pci",
           "GPUs that the PCI bus lists, with or without a driver.",
           kGauge,
           {},
           "when the bus cannot be read"},
          instance.gpus_on_pci);
  append_counted_by_driver(snapshot.telemetry, families);
}

}  // namespace gpuward::exporter
