#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/metrics/text_format.h"
#include "exporter/publish/families.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/unit/exporter/publish/filled_snapshot.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kGpu0 = "{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:40:00\"";

std::string text_of(const Snapshot& snapshot, const MetricsOptions& options = {}) {
  return metrics::to_text(exporter_families(snapshot, xid::Catalogue(), options));
}

std::string text_of(GpuReading reading, const MetricsOptions& options = {}) {
  Snapshot snapshot;
  set_readings({std::move(reading)}, snapshot);
  return text_of(snapshot, options);
}

std::string series(const std::string& name, const std::string& more, const std::string& value) {
  return name + kGpu0 + (more.empty() ? "" : "," + more) + "} " + value + "\n";
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(GpuFamilies, TellEccErrorsByKindAndCounterAndPlace) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_ecc_errors_total",
                                    R"(error="corrected",counter="volatile")", "3")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_ecc_errors_total",
                                    R"(error="uncorrected",counter="aggregate")", "4")));
  EXPECT_THAT(out,
              HasSubstr(series("gpuward_gpu_ecc_memory_errors_total",
                               R"(error="corrected",counter="aggregate",memory="dram")", "20")));
}

TEST(GpuFamilies, TellRowsPagesAndSram) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_remapped_rows", R"(error="uncorrected")", "2")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_remapped_rows_pending", "", "1")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_remapped_rows_failure", "", "0")));
  EXPECT_THAT(out,
              HasSubstr(series("gpuward_gpu_remapped_rows_banks", R"(spare_rows="max")", "600")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_retired_pages", R"(error="single_bit")", "2")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_sram_threshold_exceeded", "", "0")));
}

TEST(GpuFamilies, AreInBaseUnits) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_clock_hertz", R"(clock="sm")", "1980000000")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_energy_joules_total", "", "1234567.5")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_utilization_ratio", "", "0.5")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_temperature_celsius", R"(sensor="gpu")", "41")));
}

TEST(GpuFamilies, NameWhyAGpuIsHeldBack) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_slowdown", R"(reason="sw_power_cap")", "1")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_slowdown", R"(reason="hw_thermal")", "1")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_slowdown", R"(reason="hw_power_brake")", "0")));
}

TEST(GpuFamilies, SumTheLinksOfAGpu) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_links", "", "18")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_links_active", "", "18")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_link_errors_total", R"(error="crc_flit")", "54")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_single_link")));
}

TEST(GpuFamilies, LeaveOutTheSumIfAnActiveLinkDoesNotSay) {
  GpuReading reading = filled_reading(0);
  reading.links[3].crc_flit_errors.reset();
  reading.links[4].replay_errors.reset();
  reading.links[4].active = false;

  const std::string out = text_of(reading);

  EXPECT_THAT(out, Not(HasSubstr("error=\"crc_flit\"")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_link_errors_total", R"(error="replay")", "17")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_links_active", "", "17")));
}

TEST(GpuFamilies, TellEachLinkOnRequest) {
  const std::string out = text_of(filled_snapshot(1), {.per_link = true});

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_single_link_active",
                                    R"(link="17",remote_pci_bus_id="0000:05:00")", "1")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_single_link_errors_total",
                                    R"(link="2",error="symbol")", "5")));
}

TEST(GpuFamilies, ReadTheFaultsOfTheFabricFromTheMask) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_fabric_state", "", "3")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_fabric_fault", R"(fault="route_recovery")", "1")));
  EXPECT_THAT(out,
              HasSubstr(series("gpuward_gpu_fabric_fault", R"(fault="degraded_bandwidth")", "0")));
}

TEST(GpuFamilies, LeaveOutFabricFaultsThatAreNotSupported) {
  GpuReading reading = filled_reading(0);
  reading.fabric.health_mask = 0;

  EXPECT_THAT(text_of(reading), Not(HasSubstr("gpuward_gpu_fabric_fault")));
}

TEST(GpuFamilies, TellTheRasBlocksOfAmd) {
  GpuReading reading;
  reading.gpu = filled_reading(0, Vendor::kAmd).gpu;
  reading.ras = {{.block = "umc", .corrected = 12, .uncorrected = 1, .deferred = std::nullopt}};
  reading.bad_pages = 3;

  const std::string out = text_of(reading);

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_ras_errors_total",
                                    R"(block="umc",error="uncorrected")", "1")));
  EXPECT_THAT(out, Not(HasSubstr("error=\"deferred\"")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_bad_pages", "", "3")));
}

TEST(GpuFamilies, HaveNoSeriesForWhatTheDriverDoesNotSay) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;

  const std::string out = text_of(reading);

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_lost", "", "0")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_ecc")));
  EXPECT_THAT(out, Not(HasSubstr("celsius")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_processes")));
}

// LESSONS 4: "sentinel numbers exported" (DCGM's 9223372036854775794 for "no value").
TEST(GpuFamilies, SentinelNumbersExported) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;
  reading.ecc.corrected_volatile.total = 9'223'372'036'854'775'794U;
  reading.ecc.uncorrected_volatile.total = std::numeric_limits<std::uint64_t>::max();
  reading.thermals.memory = std::numeric_limits<double>::quiet_NaN();
  reading.power.usage_watts = std::numeric_limits<double>::infinity();
  reading.memory_used_bytes = std::numeric_limits<std::uint64_t>::max();

  const std::string out = text_of(reading, {.dcgm_compat = true});

  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_ecc")));
  EXPECT_THAT(out, Not(HasSubstr("celsius")));
  EXPECT_THAT(out, Not(HasSubstr("watts")));
  EXPECT_THAT(out, Not(HasSubstr("9223372036854775")));
  EXPECT_THAT(out, Not(HasSubstr("DCGM_FI_DEV_FB_USED")));
  EXPECT_THAT(out, Not(HasSubstr("NaN")));
}

// Two of them would have the same labels, and Prometheus refuses the whole page.
TEST(GpuFamilies, HaveNoSeriesOfAGpuThatNeverSaidWhereItIs) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;
  reading.gpu.pci = {};

  EXPECT_THAT(text_of(reading), Not(HasSubstr("gpuward_gpu_lost")));
}

TEST(GpuFamilies, SayThatAGpuIsLost) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;
  reading.is_lost = true;

  const std::string out = text_of(reading);

  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_lost", "", "1")));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_answers", "", "0")));
}

TEST(GpuFamilies, HaveTheMarginsAtWhichTheDriverActsIfItHasNoDegrees) {
  GpuReading reading = filled_reading(0);
  const auto margin = [](const char* threshold, const char* value) {
    return series("gpuward_gpu_temperature_margin_threshold_celsius",
                  std::string("threshold=\"") + threshold + "\"", value);
  };
  EXPECT_THAT(text_of(reading), HasSubstr(margin("slowdown", "-2")));
  EXPECT_THAT(text_of(reading), Not(HasSubstr(margin("shutdown", "-5"))));
  reading.thermals.slowdown_threshold.reset();
  reading.thermals.shutdown_threshold.reset();
  reading.thermals.memory_threshold.reset();
  EXPECT_THAT(text_of(reading), HasSubstr(margin("shutdown", "-5")));
  EXPECT_THAT(text_of(reading), HasSubstr(margin("memory", "0")));
  EXPECT_THAT(text_of(reading), HasSubstr(margin("gpu", "1")));
}

TEST(GpuFamilies, SayHowTheFabricIsSetUpWrongly) {
  GpuReading reading = filled_reading(0);
  reading.fabric.health_mask = 0x4AA;
  EXPECT_THAT(text_of(reading), HasSubstr(series("gpuward_gpu_fabric_misconfiguration", "", "4")));
  reading.fabric.health_mask = 0x0AA;  // an older driver
  EXPECT_THAT(text_of(reading), Not(HasSubstr("gpuward_gpu_fabric_misconfiguration{")));
}

TEST(GpuFamilies, SayThatAGpuAnswersThatRequiresAReset) {
  GpuReading reading = filled_reading(0);
  reading.reset_required = "nvmlDeviceGetUtilizationRates: GPU requires reset";

  EXPECT_THAT(text_of(reading), HasSubstr(series("gpuward_gpu_answers", "", "1")));
}

TEST(GpuFamilies, SayThatAGpuThatSaysNothingDoesNotAnswer) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;
  reading.fault = "nvmlDeviceGetPersistenceMode: Unknown Error";

  EXPECT_THAT(text_of(reading), HasSubstr(series("gpuward_gpu_answers", "", "0")));
}

TEST(GpuFamilies, HaveNoSeriesOfAGpuThatIsGone) {
  Snapshot snapshot = filled_snapshot(2);
  set_readings({filled_reading(0)}, snapshot);

  const std::string out = text_of(snapshot);

  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_lost{gpu=\"1\"")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_info{gpu=\"1\"")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_pod_info{gpu=\"1\"")));
  EXPECT_THAT(out, HasSubstr("gpuward_gpus_counted_by_driver{vendor=\"nvidia\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_finding{check=\"xid\",code=\"79\",pci_bus_id=\"0000:41:00\""))
      << "what was found of it stays";
}

TEST(GpuFamilies, TellHowAnAmdGpuIsCutAndWhetherProgramsMayUseIt) {
  GpuReading reading;
  reading.gpu = filled_reading(0).gpu;
  reading.compute_partition = "CPX";
  reading.memory_partition = "NPS4";
  reading.is_in_kfd = false;

  const std::string out = text_of(reading);

  EXPECT_THAT(out, HasSubstr(R"(compute_partition="CPX",memory_partition="NPS4"} 1)"));
  EXPECT_THAT(out, HasSubstr(series("gpuward_gpu_in_kfd", "", "0")));
}

TEST(GpuFamilies, TakeNoOldReadingForANewOneWhileTheWorkerHangs) {
  Snapshot snapshot = filled_snapshot(1);
  snapshot.telemetry.state = WorkerState::kHung;
  snapshot.telemetry.hangs = 1;

  const std::string out = text_of(snapshot);

  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpu_temperature_celsius")));
  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpus_counted_by_driver")));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_worker_up 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_worker_state{state=\"hung\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_worker_state{state=\"answering\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_worker_hangs_total 1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_reading_timestamp_seconds 1795000009\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_info{gpu=\"0\"")) << "the GPU is still there";
}

TEST(GpuFamilies, SayThatARequestForTheGpusIsNotGranted) {
  Snapshot snapshot = filled_snapshot(1);
  snapshot.health.release.reset();
  EXPECT_THAT(text_of(snapshot), HasSubstr("gpuward_gpu_release_requested 0\n"));

  snapshot.health.release.emplace();

  EXPECT_THAT(text_of(snapshot), HasSubstr("gpuward_gpu_release_requested 1\n"));
  EXPECT_THAT(text_of(snapshot), HasSubstr("gpuward_gpu_released 0\n"));
}

TEST(GpuFamilies, NameLibraryAndDriver) {
  const std::string out = text_of(filled_snapshot(1));

  EXPECT_THAT(out, HasSubstr("gpuward_gpu_library_info{vendor=\"nvidia\",library=\"libnvidia-ml.so."
                             "1\",driver_version=\"570.133.20\",library_version=\"12.570.133.20\"} "
                             "1\n"));
  EXPECT_THAT(out, HasSubstr("gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"} 1\n"));
}

TEST(GpuFamilies, CountNoGpusOfALibraryThatCannotBeUsed) {
  Snapshot snapshot;
  auto report = std::make_shared<GpuReport>();
  report->vendors.push_back({.vendor = Vendor::kNvidia,
                             .state = LibraryState::kUnusable,
                             .fault = "Driver/library version mismatch",
                             .library = "libnvidia-ml.so.1",
                             .driver_version = "",
                             .library_version = "",
                             .gpus = {},
                             .peers = {}});
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = report;

  const std::string out = text_of(snapshot);

  EXPECT_THAT(out, Not(HasSubstr("gpuward_gpus_counted_by_driver")));
  EXPECT_THAT(out,
              HasSubstr("gpuward_gpu_library_state{vendor=\"nvidia\",state=\"unusable\"} 1\n"));
}

// Returns how many more series a node with one more GPU has.
std::size_t series_of_a_gpu(Vendor vendor) {
  const auto samples = [&](int gpus) {
    const std::string out = text_of(filled_snapshot(gpus, vendor));
    return count(out, "\n") - count(out, "\n#");
  };
  return samples(8) - samples(7);
}

TEST(GpuFamilies, AreAtMost121SeriesForAnNvidiaGpuOfWhichEverythingIsKnown) {
  const std::size_t series = series_of_a_gpu(Vendor::kNvidia);

  EXPECT_LE(series, 121U);
  EXPECT_GE(series, 110U) << "the snapshot is not filled";
}

TEST(GpuFamilies, AreAtMost121SeriesForAnAmdGpuOfWhichEverythingIsKnown) {
  const std::size_t series = series_of_a_gpu(Vendor::kAmd);

  EXPECT_LE(series, 121U);
  EXPECT_GE(series, 80U) << "the snapshot is not filled";
}

TEST(GpuFamilies, AreCleanForPromtoolWithEverythingInThem) {
  GPUWARD_REQUIRE(support::why_no_program("promtool"));

  const auto outcome =
      support::Process::run({.argv = {"promtool", "check", "metrics"},
                             .input = text_of(filled_snapshot(8), {.per_link = true})});

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

}  // namespace
}  // namespace gpuward::exporter
