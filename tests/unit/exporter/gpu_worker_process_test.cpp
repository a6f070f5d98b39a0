// The program as a node sees it when its driver hangs, crashes or is missing: the real exporter,
// its real worker, and a fake libnvidia-ml.so.1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <vector>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/places.inc"
#include "tests/support/is_gone.h"
#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUp = "gpuward_gpu_worker_up";
constexpr const char* kHung = "gpuward_gpu_worker_state{state=\"hung\"}";
constexpr const char* kHangs = "gpuward_gpu_worker_hangs_total";
constexpr const char* kCrashed = "gpuward_gpu_worker_state{state=\"crashed\"}";
// The series of GPU 3 of the scenarios.
constexpr const char* kXid79 =
    "gpuward_xid_errors_total{gpu=\"3\",uuid=\"GPU-00000003-aaaa-bbbb-cccc-000000000003\","
    "pci_bus_id=\"0000:4e:00\",xid=\"79\"}";

class GpuWorkerProcess : public testing::Test {
 protected:
  void start(const std::string& library = fake_nvml::FakeNvml::library(),
             const std::string& timeout = "5s", const std::string& library_timeout = "5m",
             const std::vector<std::string>& more = {}) {
    exporter.write("config.yaml", "gpu: {interval: 1s, timeout: " + timeout +
                                      ", library_timeout: " + library_timeout + "}\n");
    exporter.use_nvml(library);
    std::vector<std::string> flags{"--config.file=" + exporter.file("config.yaml").string()};
    flags.insert(flags.end(), more.begin(), more.end());
    exporter.start(flags);
  }
  // Loads the module that the exporter finds in /sys.
  void load_driver() { std::filesystem::create_directories(exporter.file("sys/module/nvidia")); }
  void expect_it_goes_on() {
    EXPECT_EQ(exporter.get("/healthz").status, 200)
        << "a restart of the exporter would heal nothing";
    EXPECT_EQ(exporter.get("/readyz").status, 503) << "degraded";
    const std::string metrics = exporter.metrics();
    EXPECT_THAT(metrics, HasSubstr("gpuward_node_severity"));
    EXPECT_THAT(metrics, HasSubstr("uuid=\"GPU-00000007-aaaa-bbbb-cccc-000000000007\""))
        << "what was known of the GPUs stays";
    const auto severity = parse_integer<int>(exporter.value("gpuward_node_severity"));
    EXPECT_LE(severity.value_or(4), 1) << "who cannot see does not act";
  }
  [[nodiscard]] bool is_ready() {
    return support::poll_until([&] { return exporter.get("/readyz").status == 200; });
  }
  // The exporter's children.
  [[nodiscard]] std::vector<pid_t> workers() {
    const auto tasks = "/proc/" + std::to_string(exporter.process().pid()) + "/task";
    std::vector<pid_t> found;
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      std::ifstream children(task.path() / "children");
      for (pid_t pid = 0; children >> pid;) found.push_back(pid);
    }
    return found;
  }
  [[nodiscard]] std::optional<pid_t> worker() {
    const auto all = workers();
    return all.empty() ? std::nullopt : std::optional(all.front());
  }
  // The places for which findings report a hung driver.
  using Places = std::set<std::string>;
  [[nodiscard]] Places hung() {
    const std::string metrics = exporter.metrics();
    constexpr std::string_view kBefore = "code=\"driver_hung_unconfirmed\",pci_bus_id=\"";
    Places places;
    for (auto at = metrics.find(kBefore); at != std::string::npos; at = metrics.find(kBefore, at)) {
      at += kBefore.size();
      places.insert(metrics.substr(at, metrics.find('"', at) - at));
    }
    return places;
  }
  [[nodiscard]] static std::string answers(int gpu, const std::string& pci) {
    const std::string number = std::to_string(gpu);
    return "gpuward_gpu_answers{gpu=\"" + number + "\",uuid=\"GPU-0000000" + number +
           "-aaaa-bbbb-cccc-00000000000" + number + "\",pci_bus_id=\"" + pci + "\"}";
  }

  fake_nvml::FakeNvml nvml{"healthy_8x_h100"};
  RunningExporter exporter;
};

TEST_F(GpuWorkerProcess, ReadsTheGpusOfTheDriver) {
  start();

  EXPECT_TRUE(exporter.has(kUp, "1"));
  EXPECT_EQ(exporter.value("gpuward_inventory_up"), "1");
  EXPECT_EQ(exporter.value(kXid79), "0") << "there before the first one, for increase()";
}

// A scrape that waited for the driver would take until the exporter ends the worker: three times
// the time-out, because the worker hangs in its first reading.
TEST_F(GpuWorkerProcess, ScrapeNeverBlocksOnTheDriver) {
  nvml.play("hung_driver");
  start(fake_nvml::FakeNvml::library(), "2s");
  ASSERT_TRUE(exporter.has(kHung, "1"));

  const auto longest_until_the_next_hang = [this] {
    const std::string hangs = exporter.value(kHangs);
    std::chrono::nanoseconds longest{0};
    EXPECT_TRUE(support::wait_until(
        [&] {
          const auto began = std::chrono::steady_clock::now();
          EXPECT_THAT(exporter.metrics(), HasSubstr("gpuward_gpu_worker_up 0"));
          longest =
              std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - began);
          return exporter.value(kHangs) != hangs;
        },
        "another hang"));
    return longest;
  };
  EXPECT_LT(support::quickest_of(2s, longest_until_the_next_hang), 2s);
}

TEST_F(GpuWorkerProcess, LivenessDoesNotKillTheMonitorOfASlowGpu) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  const auto first = worker();

  nvml.play("hung_driver");

  ASSERT_TRUE(exporter.has(kHung, "1"));
  expect_it_goes_on();
  EXPECT_THAT(exporter.get("/readyz").body, HasSubstr("counting the GPUs"))
      << "the place of the hang";
  EXPECT_NE(exporter.value(kHangs), "0");
  nvml.play("healthy_8x_h100");
  EXPECT_TRUE(exporter.has(kUp, "1"));
  EXPECT_TRUE(is_ready());
  EXPECT_NE(exporter.value("gpuward_gpu_worker_restarts_total"), "0");
  EXPECT_NE(worker(), first);
}

// In the past, one GPU that hung hid all eight.
TEST_F(GpuWorkerProcess, ReadsTheOtherGpusWhileOneHangsAndTakesItBackWhenItAnswers) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  ASSERT_TRUE(exporter.has(answers(3, "0000:4e:00"), "1"));

  nvml.play("hung_call");

  ASSERT_TRUE(exporter.has(answers(3, "0000:4e:00"), "0"));
  EXPECT_TRUE(exporter.has(kUp, "1"));
  EXPECT_EQ(exporter.value(answers(0, "0000:1a:00")), "1");
  EXPECT_TRUE(support::wait_until([&] { return hung() == Places{"0000:4e:00"}; }, "a finding"));
  EXPECT_TRUE(is_ready());
  EXPECT_TRUE(exporter.has("gpuward_gpu_probes_total", "1")) << "it is asked from time to time";
  EXPECT_EQ(exporter.value(answers(0, "0000:1a:00")), "1");

  nvml.play("healthy_8x_h100");

  EXPECT_TRUE(exporter.has(answers(3, "0000:4e:00"), "1"));
  EXPECT_TRUE(support::wait_until([&] { return hung().empty(); }, "an end of the finding"));
  EXPECT_TRUE(support::wait_until([&] { return workers().size() == 1; }, "one worker"));
}

TEST_F(GpuWorkerProcess, HasOneFindingAndAtMostTwoWorkersIfEveryProcessHangs) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));

  nvml.set("fault.nvmlDeviceGetTemperatureV.3", "hang");
  nvml.set("fault.nvmlInit_v2.*", "hang");

  ASSERT_TRUE(exporter.has(kHung, "1"));
  std::size_t most = 0;
  EXPECT_TRUE(support::wait_until(
      [&] {
        most = std::max(most, workers().size());
        return exporter.value(kHangs) == "2";
      },
      "a second hang"));
  EXPECT_LE(most, 2U);
  EXPECT_EQ(hung(), Places{""}) << "the node as a whole";
}

TEST_F(GpuWorkerProcess, GoesOnWhenACallCrashesAndReplacesTheWorker) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));

  nvml.play("crashing_call");

  ASSERT_TRUE(exporter.has(kCrashed, "1"));
  expect_it_goes_on();
  EXPECT_THAT(exporter.get("/readyz").body, HasSubstr("SIGABRT"));
  EXPECT_EQ(exporter.value(kHangs), "0");
  nvml.play("healthy_8x_h100");
  EXPECT_TRUE(exporter.has(kUp, "1"));
}

TEST_F(GpuWorkerProcess, StartsAnotherWorkerWhenSomebodyKillsIt) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  const auto first = worker();
  ASSERT_TRUE(first.has_value());

  ::kill(*first, SIGKILL);

  EXPECT_TRUE(
      support::wait_until([&] { return worker().value_or(*first) != *first; }, "another worker"));
  EXPECT_TRUE(exporter.has(kUp, "1"));
}

// After dlclose this library stays in the process, like one whose threads or thread-local variables
// live on. Only another process opens the file of the new driver.
TEST_F(GpuWorkerProcess, ReadsTheGpusOfADriverThatWasUpgradedMeanwhile) {
  nvml.set("generation", "1");
  start(fake_nvml::FakeNvml::lasting_library());
  ASSERT_TRUE(exporter.has(kUp, "1"));
  const auto first = worker();

  nvml.set("driver_version", "580.126.20");
  nvml.set("generation", "2");

  EXPECT_TRUE(exporter.says("580.126.20")) << "the log names the library's version";
  EXPECT_TRUE(exporter.has("gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"}", "1"));
  EXPECT_EQ(exporter.value("gpuward_inventory_up"), "1");
  EXPECT_NE(worker(), first);
  EXPECT_TRUE(exporter.process().running());
}

// The new driver's library comes later than its kernel module.
TEST_F(GpuWorkerProcess, OpensALibraryThatDoesNotWorkInAFreshWorkerEachTime) {
  nvml.set("generation", "1");
  start(fake_nvml::FakeNvml::lasting_library());
  ASSERT_TRUE(exporter.has(kUp, "1"));
  nvml.set("fault.nvmlInit_v2.*", "18");
  nvml.set("generation", "2");
  const std::string kReady = "gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"}";
  ASSERT_TRUE(exporter.has(kReady, "0"));

  nvml.play("healthy_8x_h100");
  nvml.set("generation", "3");

  EXPECT_TRUE(exporter.has(kReady, "1"));
}

// The runtime put the library into the container at its start: the file of the new driver is not in
// it.
TEST_F(GpuWorkerProcess, EndsWhenALibraryThatWorkedFailsForLongAndOnlyThen) {
  load_driver();
  nvml.play("version_mismatch");
  start(fake_nvml::FakeNvml::library(), "5s", "1s");
  ASSERT_TRUE(exporter.has("gpuward_inventory_up", "0"));
  nvml.play("healthy_8x_h100");
  ASSERT_TRUE(exporter.has("gpuward_inventory_up", "1")) << "it has waited for its driver";

  nvml.play("version_mismatch");
  nvml.set("fault.nvmlDeviceGetCount_v2.*", "18");

  EXPECT_EQ(exporter.process().wait_exit(), 0);
  EXPECT_THAT(exporter.process().error_output(),
              HasSubstr("Driver library no longer works, restarting"));
}

// The container has mounted the folder that the node had before. Only another container gets the
// new folder.
TEST_F(GpuWorkerProcess, EndsWhenTheFileOfALibraryThatWorkedIsGoneForLong) {
  const std::string library = exporter.file("libnvidia-ml.so.1").string();
  std::filesystem::copy_file(fake_nvml::FakeNvml::library(), library);
  load_driver();
  start(library, "5s", "1s");
  ASSERT_TRUE(exporter.has(kUp, "1"));

  std::filesystem::remove(library);
  nvml.set("fault.nvmlDeviceGetCount_v2.*", "18");

  EXPECT_EQ(exporter.process().wait_exit(), 0);
  EXPECT_THAT(exporter.process().error_output(), HasSubstr("libnvidia-ml.so.1: is gone"));
}

// A driver container that is replaced by one of another version.
TEST_F(GpuWorkerProcess, OpensTheLibraryOfADriverRootByPathAnewAfterAnUpgrade) {
  const std::filesystem::path folder = exporter.file("driver") / "usr/lib64";
  const std::string ready = "gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"}";
  const auto install = [&] {
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(fake_nvml::FakeNvml::lasting_library(),
                               folder / "libnvidia-ml.so.1");
  };
  install();
  nvml.set("generation", "1");
  start("libnvidia-ml.so.1", "5s", "5m", {"--gpu.driver-root=" + exporter.file("driver").string()});
  ASSERT_TRUE(exporter.has(ready, "1"));
  const auto first = worker();

  std::filesystem::remove_all(exporter.file("driver"));
  nvml.set("generation", "2");
  ASSERT_TRUE(exporter.says("No GPU library found"));
  nvml.set("driver_version", "580.126.20");
  install();

  EXPECT_TRUE(exporter.has(ready, "1"));
  EXPECT_TRUE(exporter.says("580.126.20"));
  EXPECT_NE(worker(), first);
  EXPECT_TRUE(exporter.process().running()) << "no new container is needed";
}

// A node without a GPU is not faulty.
TEST_F(GpuWorkerProcess, NodeWithoutADriverIsSaidOnceAndReady) {
  start("/nowhere/libnvidia-ml.so.1");

  EXPECT_TRUE(exporter.has(kUp, "1"));
  EXPECT_TRUE(is_ready());
  EXPECT_TRUE(exporter.says("No GPU library found"));
  const std::string log = exporter.process().error_output();
  EXPECT_THAT(log, Not(HasSubstr("level=error")));
  const auto said = log.find("No GPU library found");
  ASSERT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("No GPU library found", said + 1), std::string::npos);
}

TEST_F(GpuWorkerProcess, LosesTheWorkerAloneToALibraryThatCrashesWhileItIsLoaded) {
  start(std::string(GPUWARD_BIN_DIR) + "/../lib/fakes/crashing_gpu_library.so");

  EXPECT_TRUE(exporter.has(kCrashed, "1"));
  EXPECT_EQ(exporter.get("/healthz").status, 200);
  EXPECT_EQ(exporter.get("/readyz").status, 503);
}

TEST_F(GpuWorkerProcess, TakesAFileThatIsNoLibraryForADriverThatDoesNotWork) {
  exporter.write("library.so", "no ELF file\n");

  start(exporter.file("library.so").string());

  EXPECT_TRUE(exporter.has("gpuward_gpu_worker_state{state=\"answering\"}", "1"));
  EXPECT_EQ(exporter.value("gpuward_inventory_up"), "0");
  EXPECT_EQ(exporter.get("/readyz").status, 503);
}

TEST_F(GpuWorkerProcess, LeavesNoWorkerBehindHoweverItEnds) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    start();
    ASSERT_TRUE(exporter.has(kUp, "1"));
    const auto pid = worker();
    ASSERT_TRUE(pid.has_value());

    exporter.process().signal(signal);

    ASSERT_TRUE(exporter.process().wait_exit().has_value());
    EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*pid); }, "an end")) << signal;
  }
}

// With the command of the shipped Job, and an nvidia-smi that refuses, as the driver does, while
// any process holds a GPU.
TEST_F(GpuWorkerProcess, LetsGoOfTheGpusForTheJobThatResetsThem) {
  exporter.write("nvidia0", "");
  const std::string device = exporter.file("nvidia0").string();
  exporter.write("nvidia-smi",
                 "#!/bin/sh\n[ \"$1\" != --query-gpu=pci.bus_id,persistence_mode ] || exit 0\n"
                 "for open in /proc/[0-9]*/fd/*; do\n"
                 "  [ \"`readlink $open`\" != " +
                     device +
                     " ] || {\n"
                     "    echo 'GPU 00000000:4E:00.0: In use by another client'; exit 255; }\n"
                     "done 2>/dev/null\n"
                     ": > " +
                     exporter.file("was-reset").string() + "\necho 'All done.'\n");
  fs::permissions(exporter.file("nvidia-smi"), fs::perms::owner_all);
  nvml.set("device", device);
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  const auto alone = support::Process::run({.argv = {exporter.file("nvidia-smi").string()}});
  ASSERT_TRUE(alone);
  ASSERT_EQ(alone->exit_code, 255) << "the worker holds the GPUs: " << alone->output;

  const fs::path job = fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-gpu-reset.json";
  const auto json = parse_json(read_file(job).value_or(""));
  ASSERT_TRUE(json);
  std::vector<std::string> argv = (*json)["spec"]["template"]["spec"]["containers"][0]["command"];
  ASSERT_EQ(argv.at(1), "gpu-reset");
  argv.resize(2);
  argv.emplace_back("--vendor=nvidia");
  argv.push_back("--state.path=" + exporter.file("state").string());
  const std::string path = exporter.file("").string() + ":" +
                           exporter_binary().parent_path().string() + ":/usr/bin:/bin";
  argv.insert(argv.begin(), "/usr/bin/env");  // looks on that PATH
  const auto outcome = support::Process::run({.argv = argv, .env = {{"PATH", path}}});

  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
  EXPECT_THAT(outcome->output, HasSubstr("All done."));
  EXPECT_TRUE(fs::exists(exporter.file("was-reset")));
  EXPECT_TRUE(exporter.has("gpuward_gpu_released", "0"));
  EXPECT_TRUE(exporter.has(kUp, "1")) << "it reads the GPUs again";
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");
}

TEST_F(GpuWorkerProcess, HasAWorkerWithANameOfItsOwn) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  ASSERT_TRUE(worker());
  EXPECT_EQ(read_file("/proc/" + std::to_string(*worker()) + "/comm"), "gpuward-worker\n");
}

TEST_F(GpuWorkerProcess, EndsInTimeAlsoWhileACallHangs) {
  nvml.play("hung_call");
  const auto once = [this] {
    start();
    EXPECT_TRUE(support::wait_until([&] { return worker().has_value(); }, "a worker"));
    const auto begin = std::chrono::steady_clock::now();
    exporter.process().signal(SIGTERM);
    EXPECT_EQ(exporter.process().wait_exit(), 0);
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(5s, once), 5s);
}

TEST_F(GpuWorkerProcess, SaysThatWaitingForEventsDoesNotEndAndReadsOn) {
  start();
  ASSERT_TRUE(exporter.has("gpuward_gpu_events_up", "1"));

  nvml.set("fault.nvmlEventSetWait_v2.*", "hang");

  ASSERT_TRUE(exporter.has("gpuward_gpu_events_up", "0"));
  EXPECT_TRUE(support::wait_until(
      [&] { return exporter.metrics().contains("code=\"events_hung\""); }, "a finding"));
  nvml.set("gpu.5.ecc.uncorrected.volatile.total", "3");
  EXPECT_TRUE(support::wait_until(
      [&] {
        return exporter.metrics().contains("code=\"ecc_uncorrected\",pci_bus_id=\"0000:ab:00\"");
      },
      "the error by a reading"));
  EXPECT_EQ(exporter.value(kUp), "1");

  nvml.play("healthy_8x_h100");

  EXPECT_TRUE(exporter.has("gpuward_gpu_events_up", "1"));
}

// The kernel log and the event set may both report one fault. It counts once, in either order.
TEST_F(GpuWorkerProcess, CountsAnXidOfKernelLogAndEventSetOnce) {
  start();
  ASSERT_TRUE(exporter.has(kUp, "1"));
  ASSERT_TRUE(exporter.has("gpuward_kernel_log_up", "1"));

  nvml.raise_xid(3, 79);
  ASSERT_TRUE(exporter.has(kXid79, "1"));
  exporter.append_log(xid_line(79, "0000:4e:00"));
  exporter.append_log(xid_line(13, "0000:1a:00"));
  ASSERT_TRUE(exporter.has(
      "gpuward_xid_errors_total{gpu=\"0\",uuid=\"GPU-00000000-aaaa-bbbb-cccc-000000000000\","
      "pci_bus_id=\"0000:1a:00\",xid=\"13\"}",
      "1"));

  EXPECT_EQ(exporter.value(kXid79), "1");
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "3");
}

}  // namespace
}  // namespace gpuward::exporter
