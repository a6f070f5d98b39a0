// The program as a node sees it: events in, metrics out, restarts, reloads, stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <thread>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/support/kernel_log_lock.h"
#include "tests/support/quickest.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/test_server.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ExporterProcess : public testing::Test {
 protected:
  RunningExporter exporter;
};

TEST_F(ExporterProcess, TurnsALineOfTheLogIntoACountAFindingAndASeverity) {
  exporter.start();
  EXPECT_EQ(exporter.value(xid_series(79)), "0") << "there before the first one, for increase()";

  exporter.append_log(xid_line(79));

  EXPECT_TRUE(exporter.has(xid_series(79), "1"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "3");
  EXPECT_EQ(exporter.value("gpuward_node_confirmed_severity"), "0") << "nothing else says so yet";
  EXPECT_EQ(exporter.value("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:"
                           "00\",namespace=\"\",pod=\"\"}"),
            "3");
}

// CONTRACTS A: the replaced agent does not start without NODE_NAME.
TEST_F(ExporterProcess, WithoutNodeNameServesAndSaysThatItWritesToNoNode) {
  exporter.start();

  EXPECT_TRUE(exporter.says("NODE_NAME is not set")) << exporter.process().error_output();
  EXPECT_EQ(exporter.get("/metrics").status, 200);
}

TEST_F(ExporterProcess, SendsEachLineOfTheKernelToLoki) {
  std::mutex mutex;
  std::vector<http::Request> requests;
  const auto take = [&](const http::Request& request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    return http::Response::text(204, "");
  };
  const http::TestServer loki(
      {{.path = "/loki/api/v1/push", .methods = {"POST"}, .handler = take}});
  exporter.start({"--loki.push-url=" + loki.url("/"), "--loki.tenant=gpus"});

  exporter.append_log("usb 1-1: a line that has nothing to do with GPUs");
  exporter.append_log(xid_line(79));

  EXPECT_TRUE(exporter.has("gpuward_loki_push_lines_total{result=\"sent\"}", "2"));
  std::string bodies;
  const std::lock_guard lock(mutex);
  for (const http::Request& request : requests) {
    EXPECT_EQ(request.header("X-Scope-OrgID"), "gpus");
    bodies += request.body;
  }
  EXPECT_THAT(bodies, HasSubstr("usb 1-1: a line that"));
  EXPECT_THAT(bodies, HasSubstr("): 79, "));
  EXPECT_EQ(exporter.value("gpuward_loki_push_up"), "1");
}

TEST_F(ExporterProcess, SaysAtItsStartWhichChecksLackTheirPrograms) {
  exporter.write("config.yaml",
                 "checks: {programs: [{name: ntp, command: [/nowhere/check_ntp.sh]}]}\n");
  exporter.start({"--config.file=" + exporter.file("config.yaml").string()});

  EXPECT_TRUE(exporter.says("Programs are missing, some checks cannot run"))
      << exporter.process().error_output();
  EXPECT_THAT(exporter.process().error_output(), HasSubstr("ntp lacks /nowhere/check_ntp.sh"));
}

TEST_F(ExporterProcess, CountsTheThreeLineFormAndTheXidOfALostGpuOnce) {
  exporter.start();

  exporter.append_log("NVRM: The NVIDIA GPU 0000:4e:00.0");
  exporter.append_log("NVRM: (PCI ID: 10de:2335) installed in this system has");
  exporter.append_log("NVRM: fallen off the bus and is not responding to commands.");
  exporter.append_log(xid_line(79));
  exporter.append_log(xid_line(13));

  EXPECT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_EQ(exporter.value(xid_series(79)), "1");
}

TEST_F(ExporterProcess, JoinsARecordThatARestartHasCutInTwo) {
  exporter.start();
  exporter.append_log("NVRM: The NVIDIA GPU 0000:4e:00.0");
  exporter.append_log("NVRM: (PCI ID: 10de:2335) installed in this system has");
  ASSERT_TRUE(exporter.has("gpuward_kernel_log_lines_total", "2"));
  EXPECT_EQ(exporter.process().stop(), 0);

  exporter.append_log("NVRM: fallen off the bus and is not responding to commands.");
  exporter.start();

  EXPECT_TRUE(exporter.has(xid_series(79), "1"));
  EXPECT_EQ(exporter.process().stop(), 0);
  exporter.start();
  EXPECT_TRUE(exporter.has("gpuward_kernel_log_up", "1"));
  EXPECT_EQ(exporter.value(xid_series(79)), "1") << "not joined a second time";
}

TEST_F(ExporterProcess, ReadsAFifoWhoeverWritesIntoIt) {
  ASSERT_EQ(::mkfifo(exporter.file("fifo").c_str(), 0600), 0);
  exporter.use_log(exporter.file("fifo").string());
  exporter.start();

  for (const char* count : {"1", "2"}) {
    std::ofstream(exporter.file("fifo")) << xid_line(13) << "\n";
    EXPECT_TRUE(exporter.has(xid_series(13), count));
  }
}

TEST_F(ExporterProcess, SameXidIsNotReadAgainAfterARestart) {
  exporter.start();
  exporter.append_log(xid_line(48));
  ASSERT_TRUE(exporter.has(xid_series(48), "1"));
  EXPECT_EQ(exporter.process().stop(), 0);

  exporter.append_log(xid_line(13));  // while no exporter reads
  exporter.start();

  EXPECT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_EQ(exporter.value(xid_series(48)), "1");
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "2");
}

TEST_F(ExporterProcess, LosesAndDoublesNothingWhenItIsKilledInTheMiddle) {
  constexpr int kLines = 3000;
  exporter.start();
  std::jthread writer([&] {
    for (int i = 0; i < kLines; ++i) {
      exporter.append_log(xid_line(13));
      exporter.append_log("an ordinary line");
    }
  });

  for (int kill = 0; kill < 3; ++kill) {
    const std::string before = exporter.value(xid_series(13));
    const bool are_all_read = before == std::to_string(kLines);
    ASSERT_TRUE(support::poll_until(
        [&] { return are_all_read || exporter.value(xid_series(13)) != before; }));
    exporter.process().signal(SIGKILL);
    ASSERT_TRUE(exporter.process().wait_exit().has_value());
    exporter.start();
  }
  writer.join();

  EXPECT_TRUE(exporter.has(xid_series(13), std::to_string(kLines)))
      << exporter.value(xid_series(13));
}

TEST_F(ExporterProcess, ForgetsAfterARebootWhatARebootClearsButNeverACount) {
  exporter.start();
  exporter.append_log(xid_line(79));
  exporter.append_log(xid_line(64));
  ASSERT_TRUE(exporter.has(xid_series(64), "1"));
  EXPECT_EQ(exporter.process().stop(), 0);
  std::string state = *read_file(exporter.file("state/state.json"));
  const auto boot_id = exporter.file("state/state.json");
  std::string text = state;
  for (auto at = text.find("\"boot_id\":\""); at != std::string::npos;
       at = text.find("\"boot_id\":\"", at + 1)) {
    if (text[at + 11] != '"') text[at + 11] = 'x';
  }
  std::ofstream(boot_id) << text;

  exporter.start();

  EXPECT_EQ(exporter.value(xid_series(79)), "1");
  const std::string metrics = exporter.metrics();
  EXPECT_EQ(metrics.find("gpuward_finding{check=\"xid\",code=\"79\""), std::string::npos);
  EXPECT_THAT(metrics, HasSubstr("gpuward_finding{check=\"xid\",code=\"64\""));
}

TEST_F(ExporterProcess, SetsABrokenStateAsideSaysSoAndGoesOn) {
  std::filesystem::create_directory(exporter.file("state"));
  exporter.write("state/state.json", "{\"schema_version\": 1, half a");

  exporter.start();

  EXPECT_EQ(exporter.value("gpuward_state_set_aside"), "2");
  EXPECT_TRUE(std::filesystem::exists(exporter.file("state/state.json.broken")));
  EXPECT_TRUE(exporter.says("level=error")) << exporter.process().error_output();
}

TEST_F(ExporterProcess, UsesTheSaveBeforeIfTheLastOneIsBroken) {
  exporter.start();
  exporter.append_log(xid_line(79));
  exporter.append_log(xid_line(13));
  ASSERT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_EQ(exporter.process().stop(), 0);
  const std::string saved = *read_file(exporter.file("state/state.json"));
  exporter.write("state/state.json.previous", saved);
  exporter.write("state/state.json", saved.substr(0, saved.size() / 2));

  exporter.start();

  EXPECT_EQ(exporter.value("gpuward_state_set_aside"), "1");
  EXPECT_EQ(exporter.value(xid_series(79)), "1") << "neither lost nor counted again";
  EXPECT_THAT(exporter.metrics(), HasSubstr("gpuward_finding{check=\"xid\",code=\"79\""));
}

// The exporter reads a syslog file of months for the first time: a GPU fell off the bus, and was
// repaired.
TEST_F(ExporterProcess, TakesLinesOfAnEarlierBootForHistory) {
  exporter.write(
      "kernel.log",
      "Aug  1 03:12:44 gpu-01 kernel: [912345.678901] " + xid_line(79) +
          "\nAug  1 05:40:02 gpu-01 kernel: [    0.000000] Linux version 6.8.0-45-generic "
          "(buildd@lcy02) #45-Ubuntu SMP\n");
  exporter.write("config.yaml", "kernel_log: {user_space_lines: trust}\n");

  exporter.start({"--config.file=" + exporter.file("config.yaml").string()});

  EXPECT_TRUE(exporter.has("gpuward_kernel_log_history_events_total", "1"));
  EXPECT_EQ(exporter.value(xid_series(79)), "1");
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");
}

TEST_F(ExporterProcess, ServesWithoutAStateFolderItCanWrite) {
  exporter.write("file", "");

  exporter.start({"--state.path=" + exporter.file("file").string()});
  exporter.append_log(xid_line(13));

  EXPECT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_TRUE(exporter.has("gpuward_state_last_save_successful", "0"));
}

TEST_F(ExporterProcess, SaysThatTheLogIsMissingStaysAliveAndBlamesNoGpu) {
  std::filesystem::remove(exporter.log());
  exporter.start();

  EXPECT_EQ(exporter.get("/healthz").status, 200);
  EXPECT_TRUE(support::wait_until(
      [&] { return exporter.get("/readyz").body.find("kernel.log") != std::string::npos; },
      "the reason on /readyz"));
  EXPECT_EQ(exporter.get("/readyz").status, 503);
  EXPECT_EQ(exporter.value("gpuward_kernel_log_up"), "0");
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");

  exporter.append_log(xid_line(13));

  EXPECT_TRUE(exporter.has("gpuward_kernel_log_up", "1"));
  EXPECT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_EQ(exporter.get("/readyz").status, 200);
}

TEST_F(ExporterProcess, StopsWithinASecondOfSigterm) {
  const auto once = [&] {
    exporter.start();
    exporter.append_log(xid_line(13));
    EXPECT_TRUE(support::poll_until(
        [&] { return parse_integer<int>(exporter.value(xid_series(13))).value_or(0) > 0; }));

    const auto start = std::chrono::steady_clock::now();
    exporter.process().signal(SIGTERM);
    EXPECT_EQ(exporter.process().wait_exit(), 0);
    return std::chrono::steady_clock::now() - start;
  };
  EXPECT_LT(support::quickest_of(1s, once), 1s);
}

// The record of `echo ... > /dev/kmsg`, with the stamp of another log in front.
TEST_F(ExporterProcess, CountsAFaultThatAProgramHasWrittenAndMarksIt) {
  exporter.start();

  exporter.append_log("[1235733.431527] " + xid_line(79), 12);

  EXPECT_TRUE(exporter.has("gpuward_kernel_log_user_space_lines_total", "1"));
  EXPECT_EQ(exporter.value(xid_series(79)), "1");
  EXPECT_THAT(exporter.metrics(),
              HasSubstr("check=\"xid\",code=\"79\",pci_bus_id=\"0000:4e:00\",gpu=\"0\","
                        "severity=\"reboot\",evidence=\"user_space\""));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "3") << "the node is tainted for it";
  EXPECT_EQ(exporter.value("gpuward_node_confirmed_severity"), "0") << "and not drained";
}

TEST_F(ExporterProcess, MarksLinesThatUserSpaceWritesIntoTheRealKernelLog) {
  int kmsg = -1;
  // The end-to-end test has the lock for some minutes.
  (void)support::poll_until(
      [&] { return (kmsg = support::open_kernel_log()) >= 0 || errno != EWOULDBLOCK; }, 10min);
  GPUWARD_REQUIRE(kmsg >= 0
                      ? ""
                      : "/dev/kmsg cannot be written here: no root, a container without it, or "
                        "another test writes there");
  exporter.use_log("/dev/kmsg");
  exporter.start();
  // The address is unique to this run. Other tests write into the same log, and it keeps the lines
  // of earlier runs, also of other containers, in which process IDs repeat.
  const unsigned own = std::random_device()();
  char pci[16];
  std::snprintf(pci, sizeof pci, "%04x:%02x:00", own >> 16U, own & 0xffU);

  // The kernel shows a line without its end only when the next one comes.
  const std::string line = xid_line(13, pci) + "\n";
  ASSERT_EQ(::write(kmsg, line.data(), line.size()), static_cast<ssize_t>(line.size()));

  const std::string finding =
      std::string("gpuward_finding{check=\"xid\",code=\"13\",pci_bus_id=\"") + pci +
      "\",gpu=\"\",severity=\"monitor\",evidence=\"user_space\",cleared_by=\"age\"}";
  EXPECT_TRUE(exporter.has(finding, "1")) << exporter.metrics();
  EXPECT_EQ(exporter.process().stop(), 0);
  exporter.start();
  EXPECT_TRUE(exporter.has("gpuward_kernel_log_up", "1"));
  EXPECT_EQ(
      exporter.value(std::string("gpuward_xid_errors_total{gpu=\"\",uuid=\"\",pci_bus_id=\"") +
                     pci + "\",xid=\"13\"}"),
      "1")
      << "the ring buffer is read again after a restart, and not counted again";
  ::close(kmsg);
}

}  // namespace
}  // namespace gpuward::exporter
