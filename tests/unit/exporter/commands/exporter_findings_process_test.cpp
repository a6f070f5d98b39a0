// `gpuward-exporter findings` beside a running exporter, before a start, and with invalid
// arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/fakes/amd_smi/amd_tree.h"
#include "tests/places.inc"
#include "tests/support/environment.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;

class ExporterFindings : public testing::Test {
 protected:
  support::Process::Outcome clear(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {exporter_binary().string(), "findings", "clear",
                                         "--state.path=" + exporter.file("state").string()});
    auto outcome = support::Process::run({.argv = std::move(arguments)});
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(support::Process::Outcome{});
  }
  std::string list(const std::string& more = {}) const {
    std::vector<std::string> argv{exporter_binary().string(), "findings", "list",
                                  "--state.path=" + exporter.file("state").string()};
    if (!more.empty()) argv.push_back(more);
    const auto outcome = support::Process::run({.argv = std::move(argv)});
    EXPECT_TRUE(outcome.has_value() && outcome->exit_code == 0);
    return outcome ? outcome->output : std::string();
  }
  // Latches an Xid, and waits until it is saved in the file that the command reads.
  void latch(int code, const std::string& pci = "0000:4e:00") {
    exporter.append_log(xid_line(code, pci));
    ASSERT_TRUE(support::poll_until([&] {
      return clear({"--check=xid", "--code=1"})
                 .output.find("--code " + std::to_string(code) + " --pci " + pci) !=
             std::string::npos;
    }));
  }

  RunningExporter exporter;
};

TEST_F(ExporterFindings, ClearsAFindingAndKeepsItsCount) {
  exporter.start();
  latch(64);
  ASSERT_TRUE(exporter.has("gpuward_node_severity", "4"));

  const auto outcome = clear({"--check", "xid", "--code", "64", "--pci", "00000000:4E:00.0"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("Cleared."));
  EXPECT_TRUE(exporter.has("gpuward_node_severity", "0"));
  EXPECT_EQ(exporter.value(xid_series(64)), "1");
  EXPECT_TRUE(exporter.says("Cleared finding on request")) << exporter.process().error_output();
  struct stat folder{};
  ASSERT_EQ(::stat(exporter.file("state/clear.d").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777U, 0700U) << "nobody else may declare anything repaired";
}

TEST_F(ExporterFindings, AreListedTheWorstFirst) {
  exporter.start();
  latch(79);
  latch(64);

  const std::string table = list();

  EXPECT_THAT(table, HasSubstr("SEVERITY  CHECK  CODE"));
  EXPECT_LT(table.find("isolate   xid    64"), table.find("reboot    xid    79")) << table;
  EXPECT_THAT(list("--json"), HasSubstr("\"code\":\"79\""));
  EXPECT_EQ(list("--output=json"), list("--json"));
  EXPECT_THAT(list("--output=yaml"), HasSubstr("---\ncheck: xid\n"));
}

TEST_F(ExporterFindings, AreSaidToBeNoneIfThereIsNone) {
  exporter.start();
  latch(64);
  ASSERT_EQ(clear({"--all-operator"}).exit_code, 0);

  EXPECT_TRUE(support::poll_until([&] { return list() == "There are no findings.\n"; }));
  EXPECT_EQ(clear({"--all-operator"}).exit_code, 0) << "it was so already";
}

TEST_F(ExporterFindings, ThatAGpuResetClearsGoAfterIt) {
  exporter.start();
  latch(119);
  latch(119, "0000:5e:00");
  latch(64);

  EXPECT_EQ(clear({"--after-gpu-reset", "--pci=0000:4e:00"}).exit_code, 0);

  EXPECT_TRUE(support::poll_until([&] {
    return list("--json").find("119\",\"count\":1,") != std::string::npos;
  })) << list("--json");
  EXPECT_TRUE(
      exporter.has("gpuward_gpu_severity{gpu=\"1\",uuid=\"GPU-1\",pci_bus_id=\"0000:5e:00\","
                   "namespace=\"\",pod=\"\"}",
                   "2"));
  EXPECT_TRUE(
      exporter.has("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:00\","
                   "namespace=\"\",pod=\"\"}",
                   "4"));
}

TEST_F(ExporterFindings, LeavesEveryOtherFindingAlone) {
  exporter.start();
  latch(64);
  latch(64, "0000:5e:00");
  latch(79);

  EXPECT_EQ(clear({"--check=xid", "--code=64", "--pci=0000:4e:00"}).exit_code, 0);

  EXPECT_TRUE(
      exporter.has("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:00\","
                   "namespace=\"\",pod=\"\"}",
                   "3"));
  EXPECT_TRUE(exporter.has("gpuward_node_severity", "4"));
}

TEST_F(ExporterFindings, ClearsAtOnceAllThatOnlyAPersonWouldClear) {
  exporter.start();
  latch(64);
  latch(64, "0000:5e:00");
  latch(79);

  EXPECT_EQ(clear({"--all-operator"}).exit_code, 0);

  EXPECT_TRUE(exporter.has("gpuward_node_severity", "3")) << "a reboot clears 79";
}

TEST_F(ExporterFindings, LatchesAgainWhenTheFaultIsBack) {
  exporter.start();
  latch(64);
  ASSERT_EQ(clear({"--all-operator"}).exit_code, 0);
  ASSERT_TRUE(exporter.has("gpuward_node_severity", "0"));

  exporter.append_log(xid_line(64));

  EXPECT_TRUE(exporter.has("gpuward_node_severity", "4"));
  EXPECT_EQ(exporter.value(xid_series(64)), "2");
}

TEST_F(ExporterFindings, IsTakenByTheNextStartAndOnlyOnce) {
  exporter.start();
  latch(64);
  EXPECT_EQ(exporter.process().stop(), 0);

  const auto outcome = clear({"--all-operator"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("The next exporter that starts"));
  exporter.append_log(xid_line(64, "0000:5e:00"));
  exporter.start();

  EXPECT_TRUE(
      exporter.has("gpuward_gpu_severity{gpu=\"1\",uuid=\"GPU-1\",pci_bus_id=\"0000:5e:00\","
                   "namespace=\"\",pod=\"\"}",
                   "4"))
      << "logged in between: nobody has seen it yet";
  EXPECT_EQ(exporter.value("gpuward_gpu_severity{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:"
                           "00\",namespace=\"\",pod=\"\"}"),
            "0");
  EXPECT_EQ(exporter.value(xid_series(64)), "1");
}

TEST_F(ExporterFindings, StaysClearedOverARestart) {
  exporter.start();
  latch(64);
  ASSERT_EQ(clear({"--all-operator"}).exit_code, 0);
  EXPECT_EQ(exporter.process().stop(), 0);

  exporter.start();

  EXPECT_TRUE(exporter.has("gpuward_kernel_log_up", "1"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");
}

TEST_F(ExporterFindings, SaysWhatThereIsIfNothingMatches) {
  exporter.start();
  latch(64);

  const auto outcome = clear({"--check=xid", "--code=79", "--pci=0000:4e:00"});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("--check xid --code 64 --pci 0000:4e:00"));
  EXPECT_TRUE(exporter.has("gpuward_node_severity", "4"));
}

TEST_F(ExporterFindings, SaysWhereItLookedWhenThereIsNoState) {
  const auto outcome = clear({"--all-operator"});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr(exporter.file("state/state.json").string()));
}

TEST_F(ExporterFindings, RefusesCommandsThatNameNothingOrTooMuch) {
  EXPECT_EQ(clear({}).exit_code, 2);
  EXPECT_EQ(clear({"--code=64"}).exit_code, 2);
  EXPECT_EQ(clear({"--check=xid", "--pci=here"}).exit_code, 2);
  EXPECT_EQ(clear({"--all-operator", "--check=xid"}).exit_code, 2);
}

TEST_F(ExporterFindings, SurvivesRequestsThatAreNone) {
  exporter.start();
  latch(64);
  ASSERT_EQ(clear({"--check=xid", "--code=79"}).exit_code, 1);
  std::filesystem::create_directories(exporter.file("state/clear.d/folder.json/in"));
  exporter.write("state/clear.d/a.json", "{\"all_operator\": \"yes\"}");

  EXPECT_TRUE(support::poll_until(
      [&] { return !std::filesystem::exists(exporter.file("state/clear.d/a.json")); }));

  EXPECT_TRUE(exporter.has("gpuward_node_severity", "4"));
  EXPECT_TRUE(exporter.says("Cannot read request to clear findings"))
      << exporter.process().error_output();
  EXPECT_TRUE(exporter.process().running());
}

// The flow from libamd_smi in the worker to the node's severity and back, with the real programs.
TEST_F(ExporterFindings, AFatalCperRecordStaysUntilClearedAndComesBackWithANewerOne) {
  const std::string healthy = "include = " GPUWARD_SOURCE_DIR
                              "/tests/testdata/invented/amd/mi300x_healthy.conf\nsmi.1.cper = ";
  const std::string first = "fatal 2026-11-20T10:00:00 0:1",
                    second = "fatal 2026-11-20T11:00:00 0:2";
  exporter.write("amd.conf", healthy + first + "\n");
  exporter.write("config.yaml", "gpu: {interval: 1s}\n");
  const support::Environment scenario("GPUWARD_FAKE_AMD_SMI", exporter.file("amd.conf").string());
  const fake_amd::AmdTree tree(exporter.file("amd.conf").string());
  exporter.use_nvml("/nowhere/libnvidia-ml.so.1");
  exporter.start({"--config.file=" + exporter.file("config.yaml").string(),
                  "--path.sysfs=" + tree.sys(),
                  "--gpu.amd-smi-library=" GPUWARD_BIN_DIR "/../lib/fakes/libamd_smi.so.26"});
  const std::string severity =
      "gpuward_gpu_severity{gpu=\"1\",uuid=\"GPU-a1b2c3d4e5f60701\",pci_bus_id=\"0000:26:00\","
      "namespace=\"\",pod=\"\"}";
  // The counters of this GPU show no such error.
  ASSERT_TRUE(exporter.has(severity, "1")) << exporter.process().error_output();
  EXPECT_TRUE(support::poll_until([&] { return list().find("cper_fatal") != std::string::npos; }));

  ASSERT_EQ(clear({"--check=gpu", "--code=cper_fatal", "--pci=0000:26:00"}).exit_code, 0);
  EXPECT_TRUE(exporter.has(severity, "0"));

  exporter.write("amd.conf", healthy + first + "; " + second + "\n");
  EXPECT_TRUE(exporter.has(severity, "1"));
}

TEST_F(ExporterFindings, AnAmdLibraryThatCrashesAtItsErrorRecordsIsAskedForTheRest) {
  exporter.write("amd.conf", "include = " GPUWARD_SOURCE_DIR
                             "/tests/testdata/invented/amd/mi300x_healthy.conf\n"
                             "smi.fault.amdsmi_get_gpu_cper_entries = crash\n");
  const support::Environment scenario("GPUWARD_FAKE_AMD_SMI", exporter.file("amd.conf").string());
  const fake_amd::AmdTree tree(exporter.file("amd.conf").string());
  exporter.use_nvml("/nowhere/libnvidia-ml.so.1");
  exporter.start({"--path.sysfs=" + tree.sys(),
                  "--gpu.amd-smi-library=" GPUWARD_BIN_DIR "/../lib/fakes/libamd_smi.so.26"});

  EXPECT_TRUE(support::poll_until([&] { return exporter.value("gpuward_gpu_worker_up") == "1"; }))
      << exporter.process().error_output();

  EXPECT_EQ(exporter.value("gpuward_gpu_error_records_given_up"), "1");
  EXPECT_TRUE(exporter.says("Stopped reading error records")) << exporter.process().error_output();
}

}  // namespace
}  // namespace gpuward::exporter
