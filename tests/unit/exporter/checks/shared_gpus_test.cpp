// GPUs that several workloads share, by MIG or by time-slicing, in every rule that counts GPUs:
// gpu_missing and gpu_extra (profile, labels, memory), gpu_undriven, the missing library, and check
// 3. A MIG device is not a GPU, and time-slicing multiplies the devices of the kubelet, not those
// of the driver. The other places that count: publish/families_node_test.cpp,
// publish/node/labelled_gpus_test.cpp, store/known_machine_test.cpp, gpu/worker/hung_gpus_test.cpp,
// gpu/nvidia/nvml_library_test.cpp and check_process_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/checks/rules/topology_check.h"
#include "tests/unit/exporter/checks/check_bench.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kDevicesOfAGpu = 7;  // 1g.10gb

void cut(GpuReading& reading) {
  reading.mig_enabled = true;
  for (unsigned number = 0; number < kDevicesOfAGpu; ++number) {
    reading.mig_instances.push_back(
        {"MIG-" + reading.gpu.uuid + std::to_string(number), number + 7, 0});
  }
  for (Link& link : reading.links) link.active = false;
  reading.utilization_ratio.reset();
}

// Partitions eight GPUs into 56 MIG devices.
void cut_all(Scenario& node) {
  for (GpuReading& reading : node.report.vendors[0].gpus) cut(reading);
}

// The kubelet assigns each GPU four times.
void slice(Snapshot& snapshot) {
  snapshot.workloads.is_known = true;
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (int pod = 0; pod < 4; ++pod) {
      snapshot.workloads.by_device["GPU-0000000" + std::to_string(gpu)].push_back(
          {"ns", "pod-" + std::to_string(pod), "c"});
    }
  }
}

CheckOutcome judge_sliced(const Scenario& node) {
  Snapshot snapshot = node.make_snapshot();
  slice(snapshot);
  return judge_gpus({snapshot, node.settings, node.profile, node.facts, node.now, nullptr});
}

TEST(SharedGpus, AreCountedAsGpusByTheProfile) {
  Scenario node;
  cut_all(node);
  EXPECT_EQ(codes_of(node.judge()), "");
  EXPECT_EQ(codes_of(judge_sliced(node)), "");
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  for (const CheckOutcome& outcome : {node.judge(), judge_sliced(node)}) {
    EXPECT_EQ(severity_of(outcome, "gpu_missing"), Severity::kReboot);
    EXPECT_THAT(outcome.findings[0].line, HasSubstr("7 reported by the driver, 7 on the PCI bus"));
  }
}

TEST(SharedGpus, AreCountedAsGpusByWhatTheMachineHasHad) {
  Scenario node;
  node.profile.reset();
  node.known.machine.most[Vendor::kNvidia] = 8;
  cut_all(node);
  EXPECT_EQ(codes_of(judge_sliced(node)), "");
  node.take_out_of_driver(7);
  node.take_off_bus(7);
  EXPECT_EQ(codes_of(judge_sliced(node)), "gpu_missing_unconfirmed");
}

// gpus_by_labels() makes 1 of a label that counts 56 MIG devices.
TEST(SharedGpus, AreNotMissingIfTheLabelsCountMigDevices) {
  Scenario node;
  node.profile.reset();
  node.known.machine.labelled[Vendor::kNvidia] = 1;
  cut_all(node);
  EXPECT_EQ(codes_of(judge_sliced(node)), "");
}

TEST(SharedGpus, ThatTheDriverDoesNotKnowAreNamedOneByOne) {
  Scenario node;
  cut_all(node);
  node.take_out_of_driver(2);
  const CheckOutcome outcome = judge_sliced(node);
  EXPECT_EQ(codes_of(outcome), "gpu_undriven_unconfirmed");
  EXPECT_EQ(outcome.findings[0].pci_bus_id, Scenario::bus_id(2));
}

TEST(SharedGpus, AreMissedWithTheirLibrary) {
  Scenario node;
  node.report.vendors.clear();
  EXPECT_THAT(judge_sliced(node).findings.at(0).line, HasSubstr("8 GPUs on the PCI bus"));
}

TEST(SharedGpus, AreGpusInCheck3Too) {
  CheckBench bench(topology_entry());
  cut_all(bench.node);
  const CheckOutcome outcome = bench.run();
  EXPECT_EQ(outcome.kind, kDone);
  EXPECT_EQ(codes_of(outcome), "");
  EXPECT_EQ(outcome.details, "8 GPUs");
  bench.node.gpu(3).is_lost = true;
  EXPECT_THAT(bench.run().details, HasSubstr("1 do not answer"));
}

// One GPU is partitioned, and seven are not.
TEST(SharedGpus, BesideWholeOnesAreCountedWithThem) {
  Scenario node;
  cut(node.gpu(0));
  EXPECT_EQ(codes_of(node.judge()), "");
  EXPECT_EQ(node.judge().details, "8 GPUs");
}

}  // namespace
}  // namespace gpuward::exporter
