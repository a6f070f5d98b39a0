#include "exporter/watch/gpu_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GpuReading reading_of(Vendor vendor, std::string uuid) {
  GpuReading reading;
  reading.gpu.vendor = vendor;
  reading.gpu.uuid = std::move(uuid);
  reading.gpu.pci.bus = 0x4e;
  return reading;
}

VendorReading report_of(Vendor vendor, LibraryState state) {
  VendorReading report;
  report.vendor = vendor;
  report.state = state;
  return report;
}

std::vector<std::string> uuids_of(const std::vector<Gpu>& gpus) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

TEST(GpuInventory, HoldsTheGpusOfAllVendors) {
  GpuReport report;
  report.vendors = {report_of(Vendor::kNvidia, LibraryState::kReady),
                    report_of(Vendor::kAmd, LibraryState::kReady)};
  report.vendors[0].gpus = {reading_of(Vendor::kNvidia, "GPU-0"),
                            reading_of(Vendor::kNvidia, "GPU-1")};
  report.vendors[1].gpus = {reading_of(Vendor::kAmd, "amd-0")};

  EXPECT_THAT(uuids_of(gpus_of(report, {})), ElementsAre("GPU-0", "GPU-1", "amd-0"));
}

TEST(GpuInventory, KeepsWhatItKnowsWhileADriverDoesNotWork) {
  GpuReport report;
  report.vendors = {report_of(Vendor::kNvidia, LibraryState::kUnusable)};
  const std::vector<Gpu> known{reading_of(Vendor::kNvidia, "GPU-0").gpu,
                               reading_of(Vendor::kAmd, "amd-0").gpu};

  EXPECT_THAT(uuids_of(gpus_of(report, known)), ElementsAre("GPU-0"));
}

TEST(GpuInventory, HasNoGpuThatNeverSaidWhereItIs) {
  GpuReport report;
  report.vendors = {report_of(Vendor::kNvidia, LibraryState::kReady)};
  report.vendors[0].gpus = {reading_of(Vendor::kNvidia, "GPU-0"), GpuReading()};

  EXPECT_THAT(uuids_of(gpus_of(report, {})), ElementsAre("GPU-0"));
}

TEST(GpuInventory, IsEmptyAndNoFaultIfThereIsNoLibrary) {
  GpuTelemetry telemetry;
  telemetry.state = WorkerState::kAnswering;
  telemetry.report = std::make_shared<const GpuReport>();

  EXPECT_TRUE(gpus_of(*telemetry.report, {}).empty());
  EXPECT_EQ(inventory_fault_of(telemetry), std::nullopt);
}

TEST(GpuInventory, IsNotKnownBeforeTheFirstAnswer) {
  EXPECT_TRUE(inventory_fault_of({}).has_value());
}

TEST(GpuInventory, IsNotKnownIfADriverDoesNotWorkAndSaysWhy) {
  auto report = std::make_shared<GpuReport>();
  report->vendors = {report_of(Vendor::kNvidia, LibraryState::kUnusable)};
  report->vendors[0].fault = "Driver/library version mismatch";
  GpuTelemetry telemetry;
  telemetry.state = WorkerState::kAnswering;
  telemetry.report = report;

  EXPECT_THAT(inventory_fault_of(telemetry).value_or(""),
              HasSubstr("nvidia: Driver/library version mismatch"));
}

}  // namespace
}  // namespace gpuward::exporter
