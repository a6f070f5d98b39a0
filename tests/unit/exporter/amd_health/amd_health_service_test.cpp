// The health service as AMD's device plugin sees it: the real program, started by the exporter's
// own class, and a client that is generated from another definition.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/amd_health/service.h"
#include "exporter/checks/rules/amd_thresholds.h"
#include "tests/places.inc"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/amd_health/health_client.h"

namespace gpuward::exporter {
namespace {

using support::wait_until;

Snapshot three_gpus() {
  VendorReading amd, nvidia;
  amd.vendor = Vendor::kAmd;
  amd.state = nvidia.state = LibraryState::kReady;
  Snapshot snapshot;
  for (int i = 0; i < 3; ++i) {
    Gpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.pci = {0, static_cast<std::uint8_t>(0xa5 + i), 0, 0};
    gpu.vendor = i == 2 ? Vendor::kNvidia : Vendor::kAmd;
    (i == 2 ? nvidia : amd).gpus.emplace_back().gpu = gpu;
    snapshot.gpus.push_back(gpu);
  }
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = std::make_shared<const GpuReport>(GpuReport{{amd, nvidia}});
  return snapshot;
}

class AmdHealthServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(why_no_health_client());
    std::signal(SIGPIPE, SIG_IGN);
  }

  void start(AmdHealthOptions options = {}) {
    options.socket = socket_;
    options.program = GPUWARD_BIN_DIR "/gpuward-amd-health";
    service_ = std::make_unique<AmdHealthService>(
        options, store_, [] { return default_amd_thresholds().by_field; }, clock_, log_);
    ASSERT_TRUE(
        wait_until([&] { return std::filesystem::exists(socket_); }, "the socket is there"));
  }

  void report(const Snapshot& snapshot) {
    store_.set_gpus(snapshot.gpus, clock_.wall());
    store_.set_telemetry(snapshot.telemetry);
  }

  std::string ask(const std::string& package, const std::vector<std::string>& words) {
    return ask_health(socket_, package, words);
  }

  // Waits until the child has read the content of the store.
  ::testing::AssertionResult answers(const std::string& package, const std::string& wanted) {
    return lists_health(socket_, package, wanted);
  }

  support::TempDir folder_;
  std::filesystem::path socket_ = folder_ / "amd-metrics-exporter/health.socket";
  SystemClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  Store store_{State()};
  std::unique_ptr<AmdHealthService> service_;
};

constexpr const char* kBothHealthy = "0 0000:a5:00.0 healthy GPU-0\n1 0000:a6:00.0 healthy GPU-1\n";

// CONTRACTS C: socket mode 0600.
TEST_F(AmdHealthServiceTest, ListensOnASocketOfItsOwnersAlone) {
  start();
  struct stat about{};
  ASSERT_EQ(::stat(socket_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

// CONTRACTS C: List errors until the first reading.
TEST_F(AmdHealthServiceTest, HasNoHealthBeforeTheFirstReading) {
  start();
  EXPECT_EQ(ask("metricssvc", {"list"}), "error UNKNOWN health status not available\n");
}

// CONTRACTS C: the service on the wire is metricssvc; gpumetricssvc is served too.
TEST_F(AmdHealthServiceTest, ListsTheGpusUnderBothPackageNames) {
  report(three_gpus());
  start();
  EXPECT_TRUE(answers("metricssvc", kBothHealthy));
  EXPECT_TRUE(answers("gpumetricssvc", kBothHealthy));
}

// CONTRACTS C: GetGPUState by id.
TEST_F(AmdHealthServiceTest, GivesTheStateOfTheGpusAskedFor) {
  report(three_gpus());
  start();
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  EXPECT_EQ(ask("metricssvc", {"get", "1", "5"}), "1 0000:a6:00.0 healthy GPU-1\n");
  EXPECT_EQ(ask("gpumetricssvc", {"get", "0"}), "0 0000:a5:00.0 healthy GPU-0\n");
}

TEST_F(AmdHealthServiceTest, TellsAnUnhealthyGpuAndItsWorkload) {
  report(three_gpus());
  Workloads workloads;
  workloads.is_known = true;
  workloads.by_device["0000:a6:00"] = {{"ml", "train-0", "main"}};
  store_.set_workloads(workloads);
  CheckResult result;
  result.check = "gpu";
  result.status = CheckStatus::kFail;
  Finding& finding = result.findings.emplace_back();
  finding.check = "gpu";
  finding.code = "ras_uncorrected";
  finding.pci_bus_id = "0000:a6:00";
  finding.severity = Severity::kIsolate;
  store_.apply_check(result, false);
  start();
  EXPECT_TRUE(answers("metricssvc",
                      "0 0000:a5:00.0 healthy GPU-0\n"
                      "1 0000:a6:00.0 unhealthy GPU-1 ml/train-0/main\n"));
}

// CONTRACTS C: if no GPU is found, all that were known are unhealthy.
TEST_F(AmdHealthServiceTest, KeepsAGpuThatIsGoneAndCallsItUnhealthy) {
  report(three_gpus());
  start();
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  Snapshot none;
  none.telemetry.state = WorkerState::kAnswering;
  none.telemetry.report = std::make_shared<const GpuReport>();
  report(none);
  EXPECT_TRUE(
      answers("metricssvc", "0 0000:a5:00.0 unhealthy GPU-0\n1 0000:a6:00.0 unhealthy GPU-1\n"));
}

// An ID is a position: the next GPU moves up to that of the GPU that is gone. AMD's device plugin
// uses the address.
TEST_F(AmdHealthServiceTest, TellsAGpuThatIsGoneFromTheOneThatHasItsPositionNow) {
  report(three_gpus());
  start();
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  Snapshot fewer = three_gpus();
  fewer.gpus.erase(fewer.gpus.begin());
  fewer.gpus.front().index = 0;
  GpuReport report_of_one = *fewer.telemetry.report;
  for (VendorReading& vendor : report_of_one.vendors) {
    std::erase_if(vendor.gpus,
                  [&](const GpuReading& reading) { return reading.gpu.uuid == "GPU-0"; });
  }
  fewer.telemetry.report = std::make_shared<const GpuReport>(report_of_one);
  report(fewer);
  EXPECT_TRUE(
      answers("metricssvc", "0 0000:a5:00.0 unhealthy GPU-0\n0 0000:a6:00.0 healthy GPU-1\n"));
}

TEST_F(AmdHealthServiceTest, TellsOfBothVendorsIfItIsSetSo) {
  report(three_gpus());
  start({.vendors = HealthVendors::kAll});
  const std::string third = "nvidia-2 0000:a7:00.0 healthy GPU-2\n";
  EXPECT_TRUE(answers("metricssvc", kBothHealthy + third)) << "an index alone may be an AMD GPU's";
  EXPECT_EQ(ask("metricssvc", {"get", "nvidia-2"}), third);
}

// CONTRACTS C: SetError; only with --debug.allow-injection.
TEST_F(AmdHealthServiceTest, RefusesToPretendErrors) {
  report(three_gpus());
  start();
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  const std::string said = ask("metricssvc", {"set", "0", "GPU_ECC_UNCORRECT_SEM=1"});
  EXPECT_TRUE(said.starts_with("error UNKNOWN invalid function error")) << said;
  EXPECT_EQ(ask("metricssvc", {"list"}), kBothHealthy);
}

// CONTRACTS C: mock injection by fields and counts, 0 removes.
TEST_F(AmdHealthServiceTest, PretendsErrorsIfThatIsAllowed) {
  report(three_gpus());
  start({.may_pretend_errors = true});
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  EXPECT_EQ(ask("metricssvc", {"set", "0", "GPU_ECC_UNCORRECT_SEM=1", "GPU_ECC_UNCORRECT_FUSE=2"}),
            "0 GPU_ECC_UNCORRECT_SEM GPU_ECC_UNCORRECT_FUSE\n");
  EXPECT_EQ(ask("gpumetricssvc", {"get", "0"}), "0 0000:a5:00.0 unhealthy GPU-0\n");
  EXPECT_EQ(ask("metricssvc", {"set", "0", "GPU_ECC_UNCORRECT_SEM=0", "GPU_ECC_UNCORRECT_FUSE=0"}),
            "0 GPU_ECC_UNCORRECT_SEM GPU_ECC_UNCORRECT_FUSE\n");
  EXPECT_EQ(ask("metricssvc", {"list"}), kBothHealthy);
  EXPECT_TRUE(ask("metricssvc", {"set", "0", "GPU_ECC_UNCORRECT_SEM"}).starts_with("error"));
}

TEST_F(AmdHealthServiceTest, IsStartedAgainAfterItWasKilled) {
  report(three_gpus());
  start();
  ASSERT_TRUE(answers("metricssvc", kBothHealthy));
  const pid_t child = server_of(socket_);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_TRUE(answers("metricssvc", kBothHealthy));
}

TEST_F(AmdHealthServiceTest, LeavesNoSocketBehind) {
  start();
  service_.reset();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

}  // namespace
}  // namespace gpuward::exporter
