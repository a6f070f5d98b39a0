// amd_health.enabled in the real exporter: the service is its child, serves the exporter's state
// and ends with it.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/host_tree.h"
#include "tests/support/is_gone.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/amd_health/health_client.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

class AmdHealthProcess : public testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(why_no_health_client());
    write_gpus("");
    exporter_.write("config.yaml",
                    "amd: {health_service: {enabled: true, socket: " + socket().string() + "}}\n");
    exporter_.start({"--config.file=" + exporter_.file("config.yaml").string()});
    ASSERT_TRUE(lists_health(socket(), "metricssvc", kHealthy));
    server_ = server_of(socket());
    ASSERT_GT(server_, 0);
  }
  void write_gpus(const std::string& of_the_second) {
    exporter_.write("gpus.yaml",
                    "gpus:\n"
                    "  - {uuid: GPU-a, pci: \"0000:c1:00.0\", vendor: amd, name: MI300X}\n"
                    "  - {uuid: GPU-b, pci: \"0000:c2:00.0\", vendor: amd, name: MI300X" +
                        of_the_second + "}\n");
  }
  void lose_the_second() { write_gpus(", lost: true"); }
  [[nodiscard]] std::filesystem::path socket() const { return exporter_.file("amd/health.socket"); }
  [[nodiscard]] bool is_server_gone() const {
    return support::poll_until([&] { return support::is_gone(server_); });
  }

  static constexpr const char* kHealthy =
      "0 0000:c1:00.0 healthy GPU-a\n1 0000:c2:00.0 healthy GPU-b\n";
  RunningExporter exporter_;
  pid_t server_ = 0;
};

TEST_F(AmdHealthProcess, TellsTheDevicePluginOfAGpuThatIsLost) {
  lose_the_second();
  EXPECT_TRUE(lists_health(socket(), "metricssvc",
                           "0 0000:c1:00.0 healthy GPU-a\n1 0000:c2:00.0 unhealthy GPU-b\n"));
}

// The plug-in counts it in Allocatable again.
TEST_F(AmdHealthProcess, TellsTheDevicePluginOfAGpuThatIsHealthyAgain) {
  lose_the_second();
  ASSERT_TRUE(lists_health(socket(), "metricssvc",
                           "0 0000:c1:00.0 healthy GPU-a\n1 0000:c2:00.0 unhealthy GPU-b\n"));

  write_gpus("");

  EXPECT_TRUE(lists_health(socket(), "metricssvc", kHealthy));
}

TEST_F(AmdHealthProcess, EndsWithTheExporterAndTakesItsSocketAlong) {
  EXPECT_EQ(exporter_.process().stop(), 0);
  EXPECT_TRUE(is_server_gone());
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(AmdHealthProcess, EndsWithAnExporterThatIsKilled) {
  exporter_.process().signal(SIGKILL);
  ASSERT_TRUE(exporter_.process().wait_exit());
  EXPECT_TRUE(is_server_gone());
}

// No setting says whether to serve, so the PCI bus decides.
class AmdHealthByDefault : public testing::Test {
 protected:
  void start() {
    exporter_.write("config.yaml", "amd: {health_service: {socket: " + socket().string() + "}}\n");
    exporter_.start({"--config.file=" + exporter_.file("config.yaml").string(),
                     "--path.sysfs=" + node_.paths().sys.string()});
  }
  [[nodiscard]] std::filesystem::path socket() const { return exporter_.file("amd/health.socket"); }

  support::HostTree node_;
  RunningExporter exporter_;
};

TEST_F(AmdHealthByDefault, IsServedIfAnAcceleratorOfAmdIs) {
  node_.with_nvidia_gpus(1).with_amd_gpus(1);
  start();
  EXPECT_TRUE(exporter_.says("Started AMD health service"));
  EXPECT_TRUE(support::poll_until([&] { return std::filesystem::exists(socket()); }));
}

TEST_F(AmdHealthByDefault, IsNotStartedElsewhere) {
  node_.with_nvidia_gpus(8);
  start();
  EXPECT_EQ(exporter_.process().stop(), 0);
  EXPECT_FALSE(exporter_.process().error_output().contains("AMD health service"));
}

}  // namespace
}  // namespace gpuward::exporter
