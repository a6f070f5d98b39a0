#include "exporter/pods/users.h"

#include <set>

#include "exporter/pods/device_id.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostNames = 4;
constexpr std::string_view kMore = ",…";

template <typename Name>
std::string join(std::span<const Workload> users, const Name& name) {
  std::set<std::string> names;
  for (const Workload& user : users) names.insert(name(user));
  std::string text;
  std::size_t taken = 0;
  for (const std::string& one : names) {
    if (++taken > kMostNames) return text.append(kMore);
    if (taken > 1) text += ',';
    text += one;
  }
  return text;
}

}  // namespace

const GpuReading* reading_of(const Gpu& gpu, const GpuTelemetry& telemetry) {
  if (!telemetry.report) return nullptr;
  const VendorReading* const report = telemetry.report->find(gpu.vendor);
  return report == nullptr ? nullptr : report->find(gpu.pci);
}

std::vector<std::string> device_ids_of(const Gpu& gpu, const GpuReading* reading) {
  std::vector<std::string> ids;
  if (!gpu.uuid.empty()) ids.push_back(gpu.uuid);
  ids.push_back(gpu.pci.bus_id());
  if (reading == nullptr) return ids;
  for (const MigInstance& mig : reading->mig_instances) ids.push_back(mig.uuid);
  if (reading->minor_number && gpu.vendor == Vendor::kNvidia) {
    ids.push_back(device_id_of_minor(*reading->minor_number));
  }
  return ids;
}

std::vector<Workload> users_of(std::span<const std::string> device_ids,
                               const Workloads& workloads) {
  std::set<Workload> users;
  for (const std::string& id : device_ids) {
    const auto found = workloads.by_device.find(id);
    if (found != workloads.by_device.end()) {
      users.insert(found->second.begin(), found->second.end());
    }
  }
  return {users.begin(), users.end()};
}

std::vector<Workload> users_of(const Gpu& gpu, const Snapshot& snapshot) {
  return users_of(device_ids_of(gpu, reading_of(gpu, snapshot.telemetry)), snapshot.workloads);
}

std::string namespaces_of(std::span<const Workload> users) {
  return join(users, [](const Workload& user) { return user.ns; });
}

std::string pods_of(std::span<const Workload> users) {
  return join(users, [](const Workload& user) { return user.pod; });
}

std::string containers_of(std::span<const Workload> users) {
  return join(users, [](const Workload& user) { return user.container; });
}

std::string workload_of(std::span<const Workload> users) {
  return join(users, [](const Workload& user) { return user.ns + "/" + user.pod; });
}

std::string workload_of(const Gpu& gpu, const Snapshot& snapshot) {
  return workload_of(users_of(gpu, snapshot));
}

}  // namespace gpuward::exporter
