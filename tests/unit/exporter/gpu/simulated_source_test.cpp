#include "exporter/gpu/simulated_source.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/deadline.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

class SimulatedSourceTest : public testing::Test {
 protected:
  void write(const std::string& uuid) {
    folder.write("gpus.yaml", "gpus:\n  - {pci: \"4e:00.0\", uuid: " + uuid + "}\n");
  }
  void open() {
    auto opened = SimulatedSource::open(folder / "gpus.yaml", [this] { return times; }, clock);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    source = *std::move(opened);
  }
  [[nodiscard]] std::string uuid() const {
    return source->telemetry().report->vendors.at(0).gpus.at(0).gpu.uuid;
  }

  SystemClock clock;
  support::TempDir folder;
  GpuTimes times{.interval = 1h, .timeout = 1s};
  std::unique_ptr<SimulatedSource> source;
};

TEST_F(SimulatedSourceTest, HasItsReportFromTheStart) {
  write("GPU-a");
  open();

  EXPECT_EQ(uuid(), "GPU-a");
  EXPECT_EQ(source->telemetry().state, WorkerState::kAnswering);
  EXPECT_FALSE(source->wait(1ms, {})) << "nothing new";
}

TEST_F(SimulatedSourceTest, ReadsTheFileAgainWhenHurried) {
  write("GPU-a");
  open();
  write("GPU-b");

  source->hurry();

  EXPECT_TRUE(source->wait(support::kGenerous, {}));
  EXPECT_EQ(uuid(), "GPU-b");
}

TEST_F(SimulatedSourceTest, HasNoReportWhileItIsReleased) {
  write("GPU-a");
  open();
  times.interval = 1ms;

  source->set_released(true);

  EXPECT_TRUE(source->wait(support::kGenerous, {}));
  EXPECT_EQ(source->telemetry().state, WorkerState::kReleased);
  EXPECT_EQ(source->telemetry().report, nullptr);
  const auto begin = clock.steady();
  EXPECT_FALSE(source->wait(50ms, {})) << "nothing is read";
  EXPECT_GE(clock.steady() - begin, 50ms) << "it waits, and does not turn in a circle";

  source->set_released(false);
  EXPECT_TRUE(source->wait(support::kGenerous, {}));
  EXPECT_EQ(uuid(), "GPU-a");
}

TEST_F(SimulatedSourceTest, ReadsTheFileAgainAtEachInterval) {
  write("GPU-a");
  open();
  write("GPU-b");
  times.interval = 1ms;

  EXPECT_TRUE(source->wait(support::kGenerous, {}));

  EXPECT_EQ(uuid(), "GPU-b");
}

TEST_F(SimulatedSourceTest, KeepsTheOldReportIfTheFileIsBrokenAndSaysWhy) {
  write("GPU-a");
  open();
  folder.write("gpus.yaml", "gpus: [\n");
  source->hurry();

  EXPECT_TRUE(source->wait(support::kGenerous, {}));

  EXPECT_EQ(uuid(), "GPU-a");
  EXPECT_NE(source->telemetry().fault.find("gpus.yaml"), std::string::npos);
  write("GPU-c");
  source->hurry();
  EXPECT_TRUE(source->wait(support::kGenerous, {}));
  EXPECT_EQ(source->telemetry().fault, "");
}

TEST_F(SimulatedSourceTest, IsNotOpenedWithABrokenFile) {
  folder.write("gpus.yaml", "gpus: [\n");

  EXPECT_FALSE(SimulatedSource::open(folder / "gpus.yaml", [this] { return times; }, clock));
}

TEST_F(SimulatedSourceTest, ReturnsAtOnceWhenStopped) {
  write("GPU-a");
  open();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });

  EXPECT_FALSE(source->wait(1h, stop.get_token()));
}

}  // namespace
}  // namespace gpuward::exporter
