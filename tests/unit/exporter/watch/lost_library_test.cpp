#include "exporter/watch/lost_library.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;

GpuTelemetry telemetry_of(LibraryState state) {
  GpuReport report;
  VendorReading& nvidia = report.vendors.emplace_back();
  nvidia.state = state;
  nvidia.library = "libnvidia-ml.so.1";
  nvidia.fault = "nvmlInit_v2: Driver/library version mismatch";
  GpuTelemetry telemetry;
  telemetry.state = WorkerState::kAnswering;
  telemetry.report = std::make_shared<const GpuReport>(std::move(report));
  return telemetry;
}

class LostLibraryTest : public testing::Test {
 protected:
  bool is_lost(const GpuTelemetry& telemetry, minutes later) {
    return lost_.look(telemetry, is_driver_loaded_, Clock::Steady() + later, minutes(5))
        .has_value();
  }
  bool is_driver_loaded_ = true;
  const GpuTelemetry works_ = telemetry_of(LibraryState::kReady);
  const GpuTelemetry fails_ = telemetry_of(LibraryState::kUnusable);
  LostLibrary lost_;
};

TEST_F(LostLibraryTest, HasWorkedAndFailsForTheWholeLimit) {
  EXPECT_FALSE(is_lost(works_, minutes(0)));
  EXPECT_FALSE(is_lost(fails_, minutes(10)));
  EXPECT_FALSE(is_lost(fails_, minutes(14)));
  EXPECT_TRUE(is_lost(fails_, minutes(15)));
}

TEST_F(LostLibraryTest, IsNoneThatHasNeverWorked) {
  EXPECT_FALSE(is_lost(fails_, minutes(0)));
  EXPECT_FALSE(is_lost(fails_, minutes(60)));
}

TEST_F(LostLibraryTest, CountsAgainOnceItHasWorked) {
  EXPECT_FALSE(is_lost(works_, minutes(0)));
  EXPECT_FALSE(is_lost(fails_, minutes(1)));
  EXPECT_FALSE(is_lost(works_, minutes(5)));
  EXPECT_FALSE(is_lost(fails_, minutes(7)));
}

// Its folder on the node was replaced, or a driver container has ended.
TEST_F(LostLibraryTest, IsAlsoOneWhoseFileIsGone) {
  GpuTelemetry gone = works_;
  gone.report = std::make_shared<const GpuReport>();
  EXPECT_FALSE(is_lost(gone, minutes(0))) << "a node without a driver";
  EXPECT_FALSE(is_lost(works_, minutes(1)));
  EXPECT_FALSE(is_lost(gone, minutes(2)));
  EXPECT_FALSE(is_lost(fails_, minutes(4))) << "it counts on";

  EXPECT_EQ(lost_.look(gone, true, Clock::Steady() + minutes(7), minutes(5)),
            "libnvidia-ml.so.1: is gone");
}

// A driver container first removes its files, and may compile for longer than the limit.
TEST_F(LostLibraryTest, CountsOnlyWhileTheDriverIsLoaded) {
  EXPECT_FALSE(is_lost(works_, minutes(0)));
  EXPECT_FALSE(is_lost(fails_, minutes(1)));
  is_driver_loaded_ = false;
  EXPECT_FALSE(is_lost(fails_, minutes(20)));
  is_driver_loaded_ = true;
  EXPECT_FALSE(is_lost(fails_, minutes(21)));
  EXPECT_TRUE(is_lost(fails_, minutes(26)));
}

// A new container reads the same sysfs.
TEST_F(LostLibraryTest, IsNoneOfAmdsGpus) {
  GpuReport report;
  report.vendors.emplace_back().vendor = Vendor::kAmd;
  report.vendors.front().state = LibraryState::kReady;
  GpuTelemetry amd = works_;
  amd.report = std::make_shared<const GpuReport>(report);
  EXPECT_FALSE(is_lost(amd, minutes(0)));
  report.vendors.front().state = LibraryState::kAbsent;
  amd.report = std::make_shared<const GpuReport>(report);
  EXPECT_FALSE(is_lost(amd, minutes(1)));
  EXPECT_FALSE(is_lost(amd, minutes(60)));
}

TEST_F(LostLibraryTest, IsNotToldByADriverThatHangs) {
  EXPECT_FALSE(is_lost(works_, minutes(0)));
  EXPECT_FALSE(is_lost(fails_, minutes(1)));
  GpuTelemetry hung = fails_;
  hung.state = WorkerState::kHung;
  EXPECT_FALSE(is_lost(hung, minutes(60)));
}

}  // namespace
}  // namespace gpuward::exporter
