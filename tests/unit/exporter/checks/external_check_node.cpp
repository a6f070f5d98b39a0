#include "tests/unit/exporter/checks/external_check_node.h"

#include <filesystem>
#include <memory>

namespace gpuward::exporter {

ExternalCheckNode::ExternalCheckNode(unsigned gpus) : path_("PATH", tools.path().string()) {
  settings.tool_dirs = {tools.path()};
  settings.efa_test_timeout = std::chrono::seconds(20);
  VendorReading& nvidia = report.vendors.emplace_back();
  nvidia.state = LibraryState::kReady;
  for (unsigned i = 0; i < gpus; ++i) {
    GpuReading& reading = nvidia.gpus.emplace_back();
    reading.gpu.index = static_cast<int>(i);
    reading.gpu.pci = {0, static_cast<std::uint8_t>(0x10 + i), 0, 0};
    reading.mig_enabled = false;
    reading.processes.emplace();
    snapshot.gpus.push_back(reading.gpu);
  }
}

CheckOutcome ExternalCheckNode::run(Check& check) {
  snapshot.telemetry.report = std::make_shared<const GpuReport>(report);
  const HostPaths paths = host.paths();
  return check.run(
      {snapshot, settings, paths, type, profile, clock, stop.get_token(), is_exclusive});
}

void ExternalCheckNode::use_profile(const std::string& name) {
  type = name;
  profile = settings.profiles.find(name);
  snapshot.state.machine.efa_devices = profile ? profile->efa_devices : 0;
}

}  // namespace gpuward::exporter
