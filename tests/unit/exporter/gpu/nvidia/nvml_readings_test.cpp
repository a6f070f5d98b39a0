// NVML's answers about one GPU, as they arrive in a GpuReading. Lines of the fake's scenarios set
// the driver's answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/unit/exporter/gpu/nvidia/fake_library.h"

namespace gpuward::exporter {
namespace {

using fake_nvml::FakeNvml;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::nullopt_t kAbsent = std::nullopt;

GpuReading read_gpu(std::size_t index, const std::string& path = FakeNvml::library()) {
  const VendorReading report = read_once(path);
  return index < report.gpus.size() ? report.gpus[index] : GpuReading();
}

TEST(NvmlReadings, HealthyGpuHasNoErrors) {
  const FakeNvml fake("healthy_8x_h100");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.ecc_enabled, true);
  EXPECT_EQ(gpu.ecc_pending, true);
  for (const auto& places : {gpu.ecc.corrected_volatile, gpu.ecc.uncorrected_volatile,
                             gpu.ecc.corrected_aggregate, gpu.ecc.uncorrected_aggregate}) {
    EXPECT_EQ(places.total, 0U);
    EXPECT_EQ(places.sram, 0U);
    EXPECT_EQ(places.dram, 0U);
  }
  EXPECT_EQ(gpu.rows.pending, false);
  EXPECT_EQ(gpu.rows.failure, false);
  EXPECT_EQ(gpu.rows.banks_max, 2560U);
  EXPECT_EQ(gpu.rows.banks_none, 0U);
  EXPECT_EQ(gpu.sram_threshold_exceeded, false);
  EXPECT_EQ(gpu.recovery_action, 0U);
}

TEST(NvmlReadings, MarginsAtWhichTheDriverActsMayBeBelowZero) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.4.temperature.slowdown_margin", "!3");

  const VendorReading report = read_once();

  const Thermals& told = report.gpus[3].thermals;
  EXPECT_EQ(told.shutdown_margin, -8.0);
  EXPECT_EQ(told.slowdown_margin, -2.0);
  EXPECT_EQ(told.memory_margin, 0.0);
  EXPECT_EQ(told.gpu_margin, 0.0);
  EXPECT_EQ(report.gpus[4].thermals.slowdown_margin, kAbsent);
  EXPECT_EQ(report.gpus[4].thermals.shutdown_margin, -8.0);
}

TEST(NvmlReadings, KeepsTheMarginsAtWhichTheDriverActsBetweenThoroughReadings) {
  const FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  static_cast<void>(library->read(ignore_progress));
  EXPECT_EQ(library->read(ignore_progress).gpus[3].thermals.slowdown_margin, -2.0);
}

TEST(NvmlReadings, KeepsCountersApartByKindSpanAndPlace) {
  FakeNvml fake("healthy_8x_h100");
  int number = 1;
  for (const char* kind : {"corrected", "uncorrected"}) {
    for (const char* span : {"volatile", "aggregate"}) {
      for (const char* place : {"total", "sram", "dram"}) {
        fake.set(std::string("gpu.3.ecc.") + kind + "." + span + "." + place,
                 std::to_string(number++));
      }
    }
  }

  const EccCounters ecc = read_gpu(3).ecc;

  EXPECT_EQ(ecc.corrected_volatile.total, 1U);
  EXPECT_EQ(ecc.corrected_volatile.sram, 2U);
  EXPECT_EQ(ecc.corrected_volatile.dram, 3U);
  EXPECT_EQ(ecc.corrected_aggregate.total, 4U);
  EXPECT_EQ(ecc.corrected_aggregate.sram, 5U);
  EXPECT_EQ(ecc.corrected_aggregate.dram, 6U);
  EXPECT_EQ(ecc.uncorrected_volatile.total, 7U);
  EXPECT_EQ(ecc.uncorrected_volatile.sram, 8U);
  EXPECT_EQ(ecc.uncorrected_volatile.dram, 9U);
  EXPECT_EQ(ecc.uncorrected_aggregate.total, 10U);
  EXPECT_EQ(ecc.uncorrected_aggregate.sram, 11U);
  EXPECT_EQ(ecc.uncorrected_aggregate.dram, 12U);
}

TEST(NvmlReadings, DoubleBitErrorsAndTheRecoveryActionArrive) {
  const FakeNvml fake("double_bit_error");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.ecc.uncorrected_volatile.total, 2U);
  EXPECT_EQ(gpu.ecc.uncorrected_volatile.dram, 2U);
  EXPECT_EQ(gpu.ecc.uncorrected_aggregate.total, 3U);
  EXPECT_EQ(gpu.rows.pending, true);
  EXPECT_EQ(gpu.recovery_action, 1U);
}

TEST(NvmlReadings, PendingRowRemapArrives) {
  const FakeNvml fake("row_remap_pending");

  const RemappedRows rows = read_gpu(3).rows;

  EXPECT_EQ(rows.uncorrectable, 1U);
  EXPECT_EQ(rows.correctable, 0U);
  EXPECT_EQ(rows.pending, true);
  EXPECT_EQ(rows.failure, false);
  EXPECT_EQ(rows.banks_high, 1U);
}

TEST(NvmlReadings, FailedRowRemapArrives) {
  const FakeNvml fake("row_remap_failed");

  const RemappedRows rows = read_gpu(3).rows;

  EXPECT_EQ(rows.failure, true);
  EXPECT_EQ(rows.pending, false);
  EXPECT_EQ(rows.banks_none, 1U);
}

TEST(NvmlReadings, SramErrorsAndTheirThresholdArrive) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.sram.parity", "4");
  fake.set("gpu.3.sram.secded", "2");
  fake.set("gpu.3.sram.threshold_exceeded", "1");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.sram_unc_parity, 4U);
  EXPECT_EQ(gpu.sram_unc_secded, 2U);
  EXPECT_EQ(gpu.sram_threshold_exceeded, true);
}

TEST(NvmlReadings, TemperaturesArriveWithMarginAndThresholds) {
  const FakeNvml fake("thermal_slowdown");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.thermals.gpu, 91.0);
  EXPECT_EQ(gpu.thermals.memory, 97.0);
  EXPECT_EQ(gpu.thermals.margin, -2.0);
  EXPECT_EQ(gpu.thermals.slowdown_threshold, 89.0);
  EXPECT_EQ(gpu.thermals.shutdown_threshold, 92.0);
  EXPECT_EQ(gpu.thermals.memory_threshold, 95.0);
  EXPECT_EQ(gpu.slowdown.reasons, 0x48U);
  EXPECT_EQ(gpu.slowdown.thermal_violation_seconds, 42.0);
  EXPECT_EQ(gpu.slowdown.power_violation_seconds, 0.0);
}

TEST(NvmlReadings, MarginOfMinusOneDegreeIsNoSentinel) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.temperature.margin", "-1");

  EXPECT_EQ(read_gpu(3).thermals.margin, -1.0);
}

TEST(NvmlReadings, ViolationsComeFromFieldsIfTheFunctionIsGone) {
  FakeNvml fake("thermal_slowdown");
  fake.set("fault.nvmlDeviceGetViolationStatus.*", "13");

  EXPECT_EQ(read_gpu(3).slowdown.thermal_violation_seconds, 42.0);
}

TEST(NvmlReadings, PowerIsInWattsAndJoules) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.power.enforced_limit", "650000");

  const Power power = read_gpu(3).power;

  EXPECT_DOUBLE_EQ(power.usage_watts.value_or(0), 71.25);
  EXPECT_EQ(power.limit_watts, 650.0);
  EXPECT_EQ(power.default_limit_watts, 700.0);
  EXPECT_DOUBLE_EQ(power.energy_joules.value_or(0), 123456.789);
}

TEST(NvmlReadings, PcieLinkArrivesWithWhatItCouldBe) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.pcie.generation", "4");
  fake.set("gpu.3.pcie.width", "8");
  fake.set("gpu.3.pcie.replays", "11");

  const Pcie pcie = read_gpu(3).pcie;

  EXPECT_EQ(pcie.generation, 4U);
  EXPECT_EQ(pcie.generation_max, 5U);
  EXPECT_EQ(pcie.width, 8U);
  EXPECT_EQ(pcie.width_max, 16U);
  EXPECT_EQ(pcie.replays, 11U);
}

TEST(NvmlReadings, NvlinksArriveWithStateErrorsAndOtherEnd) {
  const FakeNvml fake("nvlink_down");

  const GpuReading gpu = read_gpu(3);

  ASSERT_THAT(gpu.links, SizeIs(18));
  EXPECT_EQ(gpu.links[4].active, true);
  EXPECT_EQ(gpu.links[4].remote_pci_bus_id, "0000:07:00");
  EXPECT_EQ(gpu.links[5].number, 5U);
  EXPECT_EQ(gpu.links[5].active, false);
  EXPECT_EQ(gpu.links[5].remote_pci_bus_id, "");
  EXPECT_EQ(gpu.links[6].replay_errors, 12U);
  EXPECT_EQ(gpu.links[6].recovery_errors, 3U);
  EXPECT_EQ(gpu.links[6].crc_flit_errors, 4000U);
  EXPECT_EQ(gpu.links[6].crc_data_errors, 7U);
  EXPECT_EQ(gpu.links[6].symbol_errors, kAbsent);
}

TEST(NvmlReadings, LinksOfNvlink5CountTheirErrorsInFields) {
  const FakeNvml fake("nvlink_5");

  const GpuReading gpu = read_gpu(3);

  ASSERT_THAT(gpu.links, SizeIs(18));
  EXPECT_EQ(gpu.links[6].recovery_errors, 2U);
  EXPECT_EQ(gpu.links[6].symbol_errors, 512U);
  EXPECT_EQ(gpu.links[6].effective_errors, 17U);
  EXPECT_EQ(gpu.links[6].crc_flit_errors, kAbsent);
  EXPECT_EQ(gpu.links[7].symbol_errors, 0U);
}

TEST(NvmlReadings, LinksThatABoardHasNotWiredAreLeftOut) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.nvlink.2.active", "!3");

  const GpuReading gpu = read_gpu(3);

  ASSERT_THAT(gpu.links, SizeIs(17));
  EXPECT_EQ(gpu.links[2].number, 3U);
}

TEST(NvmlReadings, OtherEndsOfLinksStayKnownBetweenThoroughReadings) {
  const FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  (void)library->read(ignore_progress);

  const VendorReading second = library->read(ignore_progress);

  EXPECT_EQ(second.gpus.at(3).links.at(4).remote_pci_bus_id, "0000:07:00");
  EXPECT_EQ(fake.count_calls("nvmlDeviceGetNvLinkRemotePciInfo_v2"), 8U * 18U);
}

TEST(NvmlReadings, FabricArrivesInTheNewestFormThatTheDriverKnows) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.1.fabric.version", "2");
  fake.set("gpu.2.fabric.version", "1");

  const Fabric third = read_gpu(0).fabric;
  const Fabric second = read_gpu(1).fabric;
  const Fabric first = read_gpu(2).fabric;

  EXPECT_EQ(third.state, 3U);
  EXPECT_EQ(third.status, 0U);
  EXPECT_EQ(third.health_mask, 2U);
  EXPECT_EQ(third.health_summary, 1U);
  EXPECT_EQ(second.state, 3U);
  EXPECT_EQ(second.health_mask, 2U);
  EXPECT_EQ(second.health_summary, kAbsent);
  EXPECT_EQ(first.state, 3U);
  EXPECT_EQ(first.health_mask, kAbsent);
}

TEST(NvmlReadings, FabricStatusMeansNothingBeforeRegistrationIsComplete) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.fabric.state", "2");
  fake.set("gpu.3.fabric.status", "999");

  const Fabric fabric = read_gpu(3).fabric;

  EXPECT_EQ(fabric.state, 2U);
  EXPECT_EQ(fabric.status, kAbsent);
}

TEST(NvmlReadings, MigInstancesArriveIfMigIsOn) {
  const FakeNvml fake("mig");

  const GpuReading cut = read_gpu(0);
  const GpuReading whole = read_gpu(1);

  EXPECT_EQ(cut.mig_enabled, true);
  ASSERT_THAT(cut.mig_instances, SizeIs(2));
  EXPECT_EQ(cut.mig_instances[1].uuid, "MIG-00000000-1111-2222-3333-000000000002");
  EXPECT_EQ(cut.mig_instances[1].gpu_instance, 2U);
  EXPECT_EQ(cut.mig_instances[1].compute_instance, 0U);
  EXPECT_EQ(cut.utilization_ratio, kAbsent);
  EXPECT_EQ(cut.rows.pending, kAbsent);
  EXPECT_EQ(whole.mig_enabled, false);
  EXPECT_THAT(whole.mig_instances, IsEmpty());
}

TEST(NvmlReadings, MemoryClocksAndLoadArrive) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.utilization.gpu", "87");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.memory_total_bytes, 85520809984U);
  EXPECT_EQ(gpu.memory_used_bytes, 589312U);
  EXPECT_EQ(gpu.memory_free_bytes, 84948615168U);
  EXPECT_EQ(gpu.sm_clock_mhz, 345.0);
  EXPECT_EQ(gpu.memory_clock_mhz, 2619.0);
  EXPECT_DOUBLE_EQ(gpu.utilization_ratio.value_or(0), 0.87);
  EXPECT_EQ(gpu.persistence_mode, true);
}

// An L4-like board; also trap "sentinel numbers exported" of boards that lack a unit.
TEST(NvmlReadings, BoardWithoutEccLinksOrFabricHasNoSuchValues) {
  const FakeNvml fake("no_ecc");

  const GpuReading gpu = read_gpu(0);

  EXPECT_EQ(gpu.ecc_enabled, false);
  EXPECT_EQ(gpu.ecc.uncorrected_volatile.total, kAbsent);
  EXPECT_EQ(gpu.rows.pending, kAbsent);
  EXPECT_EQ(gpu.sram_threshold_exceeded, kAbsent);
  EXPECT_THAT(gpu.links, IsEmpty());
  EXPECT_EQ(gpu.fabric.state, kAbsent);
  EXPECT_EQ(gpu.mig_enabled, kAbsent);
  EXPECT_EQ(gpu.gpu.serial, "");
  EXPECT_EQ(gpu.fault, "");
  EXPECT_EQ(gpu.thermals.gpu, 34.0);
}

// Trap: sentinel numbers exported (dcgm-exporter showed 9223372036854775794).
TEST(NvmlReadings, SentinelNumbersAreAbsent) {
  const FakeNvml fake("sentinels");

  const GpuReading gpu = read_gpu(3);

  EXPECT_EQ(gpu.thermals.memory, kAbsent);
  EXPECT_EQ(gpu.thermals.slowdown_threshold, kAbsent);
  EXPECT_EQ(gpu.power.usage_watts, kAbsent);
  EXPECT_EQ(gpu.power.limit_watts, 700.0);  // the requested one instead of the enforced one
  EXPECT_EQ(gpu.power.default_limit_watts, kAbsent);
  EXPECT_EQ(gpu.power.energy_joules, kAbsent);
  EXPECT_EQ(gpu.pcie.replays, kAbsent);
  EXPECT_EQ(gpu.sm_clock_mhz, kAbsent);
  EXPECT_EQ(gpu.rows.correctable, kAbsent);
  EXPECT_EQ(gpu.ecc.corrected_volatile.total, kAbsent);
  EXPECT_EQ(gpu.ecc.corrected_aggregate.dram, kAbsent);
  EXPECT_EQ(gpu.memory_used_bytes, kAbsent);
  EXPECT_EQ(gpu.sram_unc_parity, kAbsent);
  EXPECT_EQ(gpu.slowdown.power_violation_seconds, kAbsent);
  EXPECT_EQ(gpu.slowdown.thermal_violation_seconds, kAbsent);
  EXPECT_EQ(gpu.architecture, kAbsent);
  EXPECT_EQ(gpu.recovery_action, kAbsent);
  EXPECT_EQ(gpu.gpu.serial, "");
}

TEST(NvmlReadings, OldDriverLacksOnlyWhatItDoesNotHave) {
  const FakeNvml fake("old_driver");

  const GpuReading gpu = read_gpu(0, FakeNvml::old_driver_library());

  EXPECT_EQ(gpu.gpu.name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(gpu.architecture, kAbsent);
  EXPECT_EQ(gpu.thermals.gpu, 34.0);
  EXPECT_EQ(gpu.thermals.margin, kAbsent);
  EXPECT_EQ(gpu.slowdown.reasons, 1U);
  EXPECT_EQ(gpu.memory_total_bytes, 85520809984U);
  EXPECT_EQ(gpu.memory_used_bytes, 589312U + 571605504U);  // with the part that the driver reserves
  EXPECT_EQ(gpu.retired.single_bit, 0U);
  EXPECT_EQ(gpu.retired.double_bit, 1U);
  EXPECT_EQ(gpu.retired.pending, false);
  EXPECT_EQ(gpu.rows.pending, kAbsent);
  EXPECT_EQ(gpu.mig_enabled, kAbsent);
  EXPECT_EQ(gpu.fabric.state, kAbsent);
  EXPECT_EQ(gpu.recovery_action, kAbsent);
  EXPECT_THAT(gpu.links, SizeIs(6));
  ASSERT_TRUE(gpu.processes);
  ASSERT_THAT(*gpu.processes, SizeIs(1));
  EXPECT_EQ(gpu.processes->front().pid, 4242);
  EXPECT_EQ(gpu.processes->front().used_bytes, 1073741824U);
}

TEST(NvmlReadings, IdleGpuHasAnEmptyListOfProcesses) {
  const FakeNvml fake("healthy_8x_h100");

  const GpuReading gpu = read_gpu(3);

  ASSERT_TRUE(gpu.processes);
  EXPECT_THAT(*gpu.processes, IsEmpty());
}

// Drivers of R535 before 535.104 write 32 bytes for a process instead of the documented 24
// (github.com/XuehaiPan/nvitop/pull/79). Another one has been seen to write 16 (pull/226).
TEST(NvmlReadings, ProcessesArriveWhateverSizeTheDriverGivesAnEntry) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.3.processes", "101:1000 102:2000 103:0xFFFFFFFFFFFFFFFF");

  for (const char* bytes : {"16", "24", "32"}) {
    fake.set("gpu.3.process_entry_bytes", bytes);
    const auto processes = read_gpu(3).processes;
    ASSERT_TRUE(processes) << bytes;
    ASSERT_THAT(*processes, SizeIs(3)) << bytes;
    EXPECT_EQ((*processes)[1].pid, 102) << bytes;
    EXPECT_EQ((*processes)[1].used_bytes, 2000U) << bytes;
    EXPECT_EQ((*processes)[2].pid, 103) << bytes;
    EXPECT_EQ((*processes)[2].used_bytes, kAbsent) << bytes;
  }
}

TEST(NvmlReadings, MoreProcessesThanExpectedArriveToo) {
  FakeNvml fake("healthy_8x_h100");
  std::string many;
  for (int pid = 1; pid <= 200; ++pid) many += std::to_string(pid) + ":1 ";
  fake.set("gpu.3.processes", many);

  const auto processes = read_gpu(3).processes;

  ASSERT_TRUE(processes);
  ASSERT_THAT(*processes, SizeIs(200));
  EXPECT_EQ(processes->back().pid, 200);
}

}  // namespace
}  // namespace gpuward::exporter
