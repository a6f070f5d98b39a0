#include <algorithm>

#include "core/metrics/process.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::gauge;
using metrics::Type;

// As the rules count them (checks/expected_gpus.h).
std::optional<unsigned> gpus_expected(const Snapshot& snapshot) {
  if (snapshot.instance.gpus_expected) return snapshot.instance.gpus_expected;
  const KnownMachine& known = snapshot.state.machine;
  unsigned sum = 0;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd})
    sum += std::max(count_of(known.most, vendor), count_of(known.labelled, vendor));
  return sum == 0 ? std::nullopt : std::optional(sum);
}

void append_count(const char* name, const char* help, std::optional<unsigned> count,
                  Families& families) {
  if (count) families.push_back(gauge(name, help, *count));
}

// A vendor whose library cannot be used may have GPUs all the same: no number, not 0.
void append_counted_by_driver(const GpuTelemetry& telemetry, Families& families) {
  Family counted{"gpuward_gpus_counted_by_driver",
                 "GPUs that the vendor's driver lists, those that it has lost included.",
                 Type::kGauge,
                 {}};
  const bool is_current = telemetry.report && telemetry.state == WorkerState::kAnswering;
  for (const VendorReport& report :
       is_current ? telemetry.report->vendors : std::vector<VendorReport>{}) {
    if (report.state != LibraryState::kReady) continue;
    counted.samples.push_back({{{"vendor", std::string(to_string(report.vendor))}},
                               static_cast<double>(report.gpus.size())});
  }
  families.push_back(std::move(counted));
}

}  // namespace

void append_node_families(const Snapshot& snapshot, Families& families) {
  const InstanceFacts& instance = snapshot.instance;
  Family info{
      "gpuward_instance_info", "Which machine this is, and who has said so.", Type::kGauge, {}};
  if (!instance.type.empty()) {
    info.samples.push_back({{{"instance_type", instance.type}, {"source", instance.source}}, 1});
  }
  families.push_back(std::move(info));
  families.push_back(gauge("gpuward_instance_profile_known",
                           "Whether a profile says what this machine must have; 0 means that its "
                           "GPUs are counted against what it has had.",
                           to_number(instance.has_profile)));
  append_count("gpuward_gpus_expected", "GPUs that this machine must have.",
               gpus_expected(snapshot), families);
  append_count("gpuward_efa_devices_expected", "EFA devices that this machine must have.",
               instance.efa_expected, families);
  append_count("gpuward_gpus_counted_on_pci", "GPUs that the PCI bus lists, driver or not.",
               instance.gpus_on_pci, families);
  append_counted_by_driver(snapshot.telemetry, families);
}

}  // namespace gpuward::exporter
