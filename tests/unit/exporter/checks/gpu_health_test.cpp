#include "exporter/checks/rules/gpu_health.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/runtime/clock.h"
#include "core/xid/amdgpu.h"
#include "core/xid/catalogue.h"
#include "exporter/checks/check/decide.h"
#include "exporter/checks/rules/gpu_evaluator.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {
namespace {

Gpu amd_gpu(std::uint8_t bus) {
  Gpu gpu;
  gpu.pci = {0, bus, 0, 0};
  gpu.vendor = Vendor::kAmd;
  return gpu;
}

// Two GPUs that the driver reports.
Snapshot two_gpus() {
  VendorReading vendor;
  vendor.vendor = Vendor::kAmd;
  vendor.state = LibraryState::kReady;
  Snapshot snapshot;
  for (const std::uint8_t bus : {std::uint8_t{0x05}, std::uint8_t{0x26}}) {
    snapshot.gpus.push_back(amd_gpu(bus));
    vendor.gpus.emplace_back().gpu = amd_gpu(bus);
  }
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = std::make_shared<const GpuReport>(GpuReport{{vendor}});
  return snapshot;
}

void latch(Snapshot& snapshot, const Gpu& gpu, Severity severity) {
  Finding finding;
  finding.check = "amd_hang";
  finding.pci_bus_id = gpu.pci.bus_id();
  finding.severity = severity;
  snapshot.state.findings[{finding.check, "", finding.pci_bus_id}] = finding;
}

TEST(GpuHealth, IsUnknownBeforeTheFirstReading) {
  EXPECT_EQ(health_of(Snapshot(), amd_gpu(5)), GpuHealth::kUnknown);
}

TEST(GpuHealth, IsHealthyIfNothingIsLatched) {
  const Snapshot snapshot = two_gpus();
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kHealthy);
}

// CONTRACTS C: AMD's exporter does not count ring hangs and GPU resets in the kernel log, but it
// should.
TEST(GpuHealth, IsUnhealthyFromResetUpAndOnThatGpuAlone) {
  Snapshot snapshot = two_gpus();
  latch(snapshot, snapshot.gpus[0], Severity::kReset);
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kUnhealthy);
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[1]), GpuHealth::kHealthy);
}

TEST(GpuHealth, IsUnhealthyIfTheDriverSaysNothingOfIt) {
  Snapshot snapshot = two_gpus();
  GpuReport report = *snapshot.telemetry.report;
  report.vendors[0].gpus[0].fault = "Unknown Error";
  snapshot.telemetry.report = std::make_shared<const GpuReport>(std::move(report));
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kUnhealthy);
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[1]), GpuHealth::kHealthy);
}

TEST(GpuHealth, IsHealthyBesideWhatIsOnlyMonitored) {
  Snapshot snapshot = two_gpus();
  latch(snapshot, snapshot.gpus[0], Severity::kMonitor);
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kHealthy);
}

// CONTRACTS C: unhealthy when the library cannot be reached, or no GPU is found.
TEST(GpuHealth, IsUnhealthyIfNobodyCanAskTheDriver) {
  for (const WorkerState state : {WorkerState::kHung, WorkerState::kCrashed}) {
    Snapshot snapshot = two_gpus();
    snapshot.telemetry.state = state;
    EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kUnhealthy);
  }
}

TEST(GpuHealth, IsUnhealthyIfTheDriverHasNoGpuAnyMore) {
  Snapshot snapshot = two_gpus();
  VendorReading none;
  none.vendor = Vendor::kAmd;
  for (const LibraryState state :
       {LibraryState::kReady, LibraryState::kUnusable, LibraryState::kAbsent}) {
    none.state = state;
    snapshot.telemetry.report = std::make_shared<const GpuReport>(GpuReport{{none}});
    EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kUnhealthy);
  }
}

// CONTRACTS C: strictly greater than the threshold. The rule itself is judge_gpus().
TEST(GpuHealth, FollowsUncorrectableErrorsOverTheirThreshold) {
  using Threshold = std::optional<std::uint64_t>;
  for (const Threshold threshold : {Threshold(), Threshold(0), Threshold(1)}) {
    Snapshot snapshot = two_gpus();
    GpuReport report = *snapshot.telemetry.report;
    report.vendors[0].gpus[0].ras = {{"pcie_bif", 0U, 1U, 0U}};
    snapshot.telemetry.report = std::make_shared<const GpuReport>(report);
    CheckSettings settings;
    if (threshold) settings.ras_thresholds["pcie_bif"] = *threshold;
    const CheckOutcome outcome = judge_gpus({snapshot, settings, std::nullopt, NodeFacts(), {}});
    Store store{State()};
    store.apply_check(decide_status(outcome, "gpu", {}), false);
    snapshot.state = store.state();
    EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]),
              threshold == 1U ? GpuHealth::kHealthy : GpuHealth::kUnhealthy)
        << threshold.value_or(0);

    Snapshot later = two_gpus();  // the driver was loaded again, as in a reboot: it counts from 0
    GpuReport again = *later.telemetry.report;
    again.vendors[0].gpus[0].ras = {{"pcie_bif", 0U, 0U, 0U}};
    later.telemetry.report = std::make_shared<const GpuReport>(again);
    store.apply_check(
        decide_status(judge_gpus({later, settings, std::nullopt, NodeFacts(), {}}), "gpu", {}),
        false);
    later.state = store.state();
    EXPECT_EQ(health_of(later, later.gpus[0]), GpuHealth::kHealthy);
  }
}

// amdgpu also logs each error that it counts.
TEST(GpuHealth, IsHealthyBesideALoggedErrorThatItsThresholdAllows) {
  using std::chrono::seconds;
  const WallTime now = *parse_rfc3339("2026-11-20T10:00:00Z");
  for (const std::uint64_t threshold : {0U, 5U}) {
    LatchedState store{State()};
    store.enter_boot("boot-1", now);
    const std::string line =
        "amdgpu 0000:05:00.0: 1 uncorrectable hardware errors detected in umc block";
    const auto event = xid::parse_amdgpu(line);
    ASSERT_TRUE(event);
    Observation logged;
    logged.event = *event;
    logged.verdict = xid::Catalogue().judge(*event);
    logged.line = line;
    logged.seen = now;
    store.observe(logged);
    const auto read = [&](WallTime at) {
      Snapshot snapshot = two_gpus();
      GpuReport report = *snapshot.telemetry.report;
      report.vendors[0].gpus[0].ras = {{"umc", 0U, 1U, 0U}};
      snapshot.telemetry.report = std::make_shared<const GpuReport>(report);
      snapshot.telemetry.read_at = at;
      snapshot.state = store.state();
      CheckSettings settings;
      settings.ras_thresholds["umc"] = threshold;
      store.apply_check(GpuEvaluator().evaluate(snapshot, settings, std::nullopt, NodeFacts(), at),
                        false);
      snapshot.state = store.state();
      return health_of(snapshot, snapshot.gpus[0]);
    };
    EXPECT_EQ(read(now + seconds(5)),
              threshold == 5U ? GpuHealth::kHealthy : GpuHealth::kUnhealthy);
    if (threshold == 0) continue;
    const auto found = store.state().findings.begin()->second;
    EXPECT_EQ(found.severity, Severity::kMonitor);
    EXPECT_EQ(found.why, "the GPU's counters are within the GPU_ECC_UNCORRECT_* thresholds");
  }
}

// CONTRACTS C: AMD's service and the label on the node report this result.
TEST(GpuHealth, IsUnhealthyAfterAFatalCperRecordOnThatGpuAlone) {
  Snapshot snapshot = two_gpus();
  GpuReport report = *snapshot.telemetry.report;
  report.vendors[0].gpus[0].latest_cper.emplace().severity = CperSeverity::kFatal;
  report.vendors[0].gpus[0].ras = {{"umc", 0, 1, 0}};
  report.vendors[0].gpus[1].latest_cper.emplace().severity = CperSeverity::kCorrected;
  snapshot.telemetry.report = std::make_shared<const GpuReport>(report);
  CheckSettings settings;
  settings.ras_thresholds["umc"] = 1;
  const CheckOutcome outcome = judge_gpus({snapshot, settings, std::nullopt, NodeFacts(), {}});
  Store store{State()};
  store.apply_check(decide_status(outcome, "gpu", {}), false);
  snapshot.state = store.state();
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[0]), GpuHealth::kUnhealthy);
  EXPECT_EQ(health_of(snapshot, snapshot.gpus[1]), GpuHealth::kHealthy);
}

}  // namespace
}  // namespace gpuward::exporter
