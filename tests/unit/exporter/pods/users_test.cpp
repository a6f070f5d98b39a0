#include "exporter/pods/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using testing::ElementsAre;

GpuReading reading(int index) {
  GpuReading one;
  one.gpu.index = index;
  one.gpu.uuid = "GPU-" + std::to_string(index);
  one.gpu.pci = *parse_pci_address("0000:4" + std::to_string(index) + ":00.0");
  one.minor_number = static_cast<std::uint32_t>(7 - index);  // not always the index
  return one;
}

Snapshot snapshot_of(std::vector<GpuReading> readings) {
  Snapshot snapshot;
  auto report = std::make_shared<GpuReport>();
  report->vendors.emplace_back();
  report->vendors.back().gpus = std::move(readings);
  snapshot.telemetry.report = std::move(report);
  snapshot.workloads.is_known = true;
  return snapshot;
}

TEST(UsersOfAGpu, AreThoseOfItsUuid) {
  Snapshot snapshot = snapshot_of({reading(0), reading(1)});
  snapshot.workloads.by_device["GPU-1"] = {{"ns", "train-0", "c"}};

  EXPECT_THAT(users_of(reading(0).gpu, snapshot), ElementsAre());
  EXPECT_THAT(users_of(reading(1).gpu, snapshot), ElementsAre(Workload{"ns", "train-0", "c"}));
}

TEST(UsersOfAGpu, AreThoseOfItsMigInstances) {
  GpuReading cut = reading(0);
  cut.mig_instances = {{"MIG-a", 1, 0}, {"MIG-b", 2, 0}};
  Snapshot snapshot = snapshot_of({cut});
  snapshot.workloads.by_device["MIG-b"] = {{"ns", "b", "c"}};
  snapshot.workloads.by_device["MIG-a"] = {{"ns", "a", "c"}};

  EXPECT_EQ(workload_of(cut.gpu, snapshot), "ns/a,ns/b");
}

TEST(UsersOfAGpu, AreFoundByMinorNumberAndNotByIndex) {
  Snapshot snapshot = snapshot_of({reading(0), reading(7)});
  snapshot.workloads.by_device["nvidia7"] = {{"ns", "train-0", "c"}};

  EXPECT_EQ(workload_of(reading(0).gpu, snapshot), "ns/train-0");
  EXPECT_EQ(workload_of(reading(7).gpu, snapshot), "");
}

TEST(UsersOfAGpu, AreFoundByAddress) {
  Snapshot snapshot;
  snapshot.workloads.by_device["0000:43:00"] = {{"ns", "train-0", "c"}};

  EXPECT_EQ(workload_of(reading(3).gpu, snapshot), "ns/train-0");
}

TEST(UsersOfAGpu, AreNamedOnceAndAFewOnly) {
  std::vector<Workload> users;
  for (const char* pod : {"e", "d", "c", "b", "a", "a"}) users.push_back({"ns", pod, "c"});

  EXPECT_EQ(workload_of(users), "ns/a,ns/b,ns/c,ns/d,…");
  EXPECT_EQ(namespaces_of(users), "ns");
  EXPECT_EQ(pods_of({}), "");
}

}  // namespace
}  // namespace gpuward::exporter
