#include "exporter/amd_health/feed.h"

#include "core/runtime/json.h"
#include "exporter/checks/rules/gpu_health.h"
#include "exporter/pods/users.h"

namespace gpuward::exporter {
namespace {

// A GPU is function 0 if the driver does not report its function.
std::string device_of(const PciAddress& pci) {
  PciAddress address = pci;
  if (!address.function) address.function = 0;
  return address.full();
}

// AMD's plugin identifies its GPUs by their bare index, which GPUs of other vendors have too.
std::string id_of(const Gpu& gpu) {
  const std::string index = std::to_string(gpu.index);
  return gpu.vendor == Vendor::kAmd ? index : std::string(to_string(gpu.vendor)) + "-" + index;
}

Json render(const Gpu& gpu, const Snapshot& snapshot) {
  Json workloads = Json::array();
  for (const Workload& user : users_of(gpu, snapshot)) {
    workloads.push_back(user.ns + "/" + user.pod + "/" + user.container);
  }
  return {{"id", id_of(gpu)},
          {"uuid", gpu.uuid},
          {"device", device_of(gpu.pci)},
          {"health", to_string(health_of(snapshot, gpu))},
          {"workloads", std::move(workloads)}};
}

}  // namespace

std::string health_line(const Snapshot& snapshot, HealthVendors vendors,
                        const std::map<std::string, std::uint64_t>& thresholds) {
  std::map<PciAddress, Json> by_address;
  for (const auto* gpus : {&snapshot.gpus, &snapshot.gone_gpus}) {
    for (const Gpu& gpu : *gpus) {
      if (vendors == HealthVendors::kAll || gpu.vendor == Vendor::kAmd)
        by_address[gpu.pci] = render(gpu, snapshot);
    }
  }
  Json gpus = Json::array();
  for (auto& [pci, gpu] : by_address) gpus.push_back(std::move(gpu));
  return dump_json({{"gpus", std::move(gpus)},
                    {"is_known", snapshot.telemetry.report != nullptr},
                    {"thresholds", thresholds}}) +
         "\n";
}

}  // namespace gpuward::exporter
