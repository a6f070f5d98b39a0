// `gpuward-exporter check` as a batch job or a Job of Kubernetes runs it: the real program, its
// worker, a fake libnvidia-ml.so.1 and fake programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/fakes/tools/tool_box.h"
#include "tests/support/host_tree.h"
#include "tests/support/is_gone.h"
#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckProcess : public testing::Test {
 protected:
  CheckProcess() {
    for (const std::string& address : addresses_) host_.with_pci(address, support::h100());
    folder_.write("kernel.log", "");
    folder_.write("config.yaml", "checks: {tool_dirs: [" + tools_.path().string() + "]}\n");
  }

  support::ProcessOptions command(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{exporter_binary().string(),
                                  "check",
                                  "--gpu.nvml-library=" + library_,
                                  "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                                  "--path.sysfs=" + host_.paths().sys.string(),
                                  "--path.procfs=" + host_.paths().proc.string(),
                                  "--kernel-log.path=" + (folder_ / "kernel.log").string(),
                                  "--state.path=" + (folder_ / "state").string(),
                                  "--config.file=" + (folder_ / "config.yaml").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    // Hides the programs of this machine and the network of a cloud.
    return {.argv = std::move(argv),
            .env = {{"PATH", tools_.path().string()}, {"AWS_EC2_METADATA_DISABLED", "true"}}};
  }
  support::Process::Outcome check(const std::vector<std::string>& words) const {
    auto outcome = support::Process::run(command(words));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{-1, "", ""});
  }
  // Returns the field of each line of JSON.
  static std::vector<std::string> each(const std::string& field, const std::string& output) {
    std::vector<std::string> values;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      const auto json = parse_json(line);
      EXPECT_TRUE(json) << line;
      values.push_back(json ? string_at(*json, field) : "no JSON");
    }
    return values;
  }
  void has_dcgm(const fakes::ToolReply& diag) {
    tools_.add("dcgmi", "discovery", {.output = "8 GPUs found.\n"});
    tools_.add("dcgmi", "diag", diag);
  }

  support::Process::Outcome preflight(const std::vector<std::string>& words) const {
    support::ProcessOptions options = command(words);
    options.argv.at(1) = "preflight";
    auto outcome = support::Process::run(options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{-1, "", ""});
  }

  std::string library_ = fake_nvml::FakeNvml::library();
  // The addresses that the driver reports.
  const std::vector<std::string> addresses_{"0000:1a:00.0", "0000:2b:00.0", "0000:3c:00.0",
                                            "0000:4e:00.0", "0000:9a:00.0", "0000:ab:00.0",
                                            "0000:bc:00.0", "0000:cd:00.0"};
  support::TempDir folder_;
  support::HostTree host_;
  fakes::ToolBox tools_;
  fake_nvml::FakeNvml nvml_{"healthy_8x_h100"};
};

TEST_F(CheckProcess, AHealthyNodeEndsTheLightweightSuiteWith0) {
  const auto outcome = check({"--suite", "lightweight", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(each("check", outcome.output), ElementsAre("0-nvidia-smi", "1-dcgm-diag-l2",
                                                         "2-efa-enumeration", "3-topology-check"));
  EXPECT_EQ(each("status", outcome.output)[1], "SKIP") << "no dcgmi here";
}

TEST_F(CheckProcess, TheLightweightSuiteWithoutDiagnosticsEndsWithinTwoSeconds) {
  const auto once = [this] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(check({"--suite", "lightweight", "--json"}).exit_code, 0);
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(2s, once), 2s);
}

TEST_F(CheckProcess, ASickGpuEndsItWith1AndAtTheFirstFailure) {
  nvml_.play("row_remap_pending");

  const auto outcome = check({"--suite", "lightweight", "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << outcome.output << outcome.error_output;
  EXPECT_THAT(each("status", outcome.output), ElementsAre("FAIL"));
  EXPECT_THAT(each("severity", outcome.output), ElementsAre("RESET"));
}

TEST_F(CheckProcess, WrongUsageEndsWith2BeforeAnythingIsLookedAt) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"--suite", "heavy"},
                                                {"--check", "9"},
                                                {"--suite", "intensive"},
                                                {"--check", "5"},
                                                {"--suite", "lightweight", "--prolog"},
                                                {"--no-such-flag"},
                                                {"--check", "0", "--config.file=/nowhere.yaml"}}) {
    const auto outcome = check(words);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(words) << outcome.output;
    EXPECT_EQ(outcome.output, "");
    EXPECT_NE(outcome.error_output, "");
  }
  EXPECT_THAT(nvml_.calls(), IsEmpty());
}

TEST_F(CheckProcess, ACheckThatCannotTellEndsItWith3) {
  has_dcgm({.output = "half a rep"});

  const auto outcome = check({"--check", "1", "--exclusive", "--json"});

  EXPECT_EQ(outcome.exit_code, 3) << outcome.output << outcome.error_output;
  EXPECT_THAT(each("status", outcome.output), ElementsAre("ERROR"));
}

TEST_F(CheckProcess, ThePrologRunsWhatIsQuickEnoughBeforeAJob) {
  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(each("check", outcome.output), ElementsAre("0-nvidia-smi", "2-efa-enumeration"));
}

// Only the driver reports it. That is not enough for a reboot, but enough to refuse a job.
TEST_F(CheckProcess, ThePrologRefusesAJobWhileAGpuIsLost) {
  nvml_.play("lost_gpu");

  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("gpu_lost_unconfirmed on 0000:4e:00"));
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("gpu_undriven")));
  EXPECT_THAT(each("status", outcome.output), ElementsAre("FAIL"));
  EXPECT_THAT(each("severity", outcome.output), ElementsAre("MONITOR"))
      << "what may be done to the node stays as it is";
  EXPECT_EQ(check({"--suite", "lightweight", "--json"}).exit_code, 3) << "check 3 cannot tell";
}

TEST_F(CheckProcess, ThePrologRefusesAJobWhileAllGpusAreLost) {
  nvml_.set("fault.nvmlDeviceGetHandleByIndex_v2.*", "15");

  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << outcome.output << outcome.error_output;
}

TEST_F(CheckProcess, ThePrologRefusesAJobWhileAGpuCannotBeRead) {
  nvml_.set("fault.nvmlDeviceGetHandleByIndex_v2.6", "999");

  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("gpu_unreadable"));
}

TEST_F(CheckProcess, ThePrologRefusesAJobIfTheDriversLibraryIsMissing) {
  library_ = "/nowhere/libnvidia-ml.so.1";

  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 1) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("library_unusable"));
  EXPECT_THAT(each("severity", outcome.output), ElementsAre("MONITOR"));
  EXPECT_EQ(check({"--check", "0", "--json"}).exit_code, 3) << "it cannot tell";
}

TEST_F(CheckProcess, ANodeWithoutAGpuIsSkippedAndItsJobsStart) {
  library_ = "/nowhere/libnvidia-ml.so.1";
  for (const std::string& address : addresses_) host_.loses_pci(address);

  const auto outcome = check({"--prolog", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(each("status", outcome.output), ElementsAre("SKIP", "SKIP"));
}

TEST_F(CheckProcess, AGpuThatRequiresAResetIsJudgedByAllThatItStillSays) {
  nvml_.set("fault.nvmlDeviceGetUtilizationRates.2", "16");
  EXPECT_THAT(each("severity", check({"--check", "0", "--json"}).output), ElementsAre("RESET"));
  nvml_.set("gpu.2.rows.failure", "1");
  EXPECT_THAT(each("severity", check({"--check", "0", "--json"}).output), ElementsAre("ISOLATE"));
}

TEST_F(CheckProcess, ADryRunSaysWhatWouldRunAndTouchesNothing) {
  has_dcgm({});

  const auto outcome = check({"--suite", "intensive", "--dry-run"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("4-dcgm-diag-l4"));
  EXPECT_THAT(nvml_.calls(), IsEmpty());
  EXPECT_THAT(tools_.calls("dcgmi"), IsEmpty());
}

TEST_F(CheckProcess, ASkipIsInTheTerminationLogAlthoughItEndsWith0) {
  const auto log = folder_.write("termination-log", "");

  const auto outcome = check({"--check", "1", "--json", "--termination-log", log.string()});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  const auto said = read_file(log);
  ASSERT_TRUE(said);
  EXPECT_THAT(each("status", *said), ElementsAre("SKIP"));
}

TEST_F(CheckProcess, SigtermEndsItWithTheProgramsThatItRuns) {
  has_dcgm({.hangs = true});
  auto process = support::Process::spawn(command({"--check", "1", "--exclusive", "--json"}));
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(support::wait_until([&] { return tools_.child_of("dcgmi").has_value(); },
                                  "the diagnostic runs"));

  (*process)->signal(SIGTERM);

  EXPECT_EQ((*process)->wait_exit(), 3) << (*process)->error_output();
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*tools_.child_of("dcgmi")); },
                                  "nothing is left of dcgmi"));
}

TEST_F(CheckProcess, PreflightPrintsWhatCanRunAndEndsWith1IfSomethingCannot) {
  has_dcgm({});
  const auto outcome = preflight({"--check", "1,efa-loopback"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.error_output;
  EXPECT_THAT(outcome.output, HasSubstr("CHECK           CAN RUN  FOUND"));
  EXPECT_THAT(outcome.output,
              HasSubstr("1-dcgm-diag-l2  yes      " + (tools_.path() / "dcgmi").string()));
  EXPECT_THAT(outcome.output, HasSubstr("6-efa-loopback  no       -"));
  EXPECT_THAT(outcome.output, HasSubstr("fi_pingpong and fi_info, or ib_write_bw"));
}

TEST_F(CheckProcess, PreflightEndsWith0IfAllThatIsAskedForCanRun) {
  has_dcgm({});
  const auto outcome = preflight({"--check", "0", "--check", "4", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  const Json checks = member_at(parse_json(outcome.output).value_or(Json()), "checks");
  ASSERT_EQ(checks.size(), 2U) << outcome.output;
  EXPECT_EQ(string_at(checks[1], "check"), "4-dcgm-diag-l4");
  EXPECT_EQ(checks[1]["can_run"], true);
  EXPECT_EQ(checks[1]["found"], Json::array({(tools_.path() / "dcgmi").string()}));
}

TEST_F(CheckProcess, PreflightRefusesACheckThatIsNone) {
  const auto outcome = preflight({"--check", "7"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error_output, HasSubstr("unknown check 7; available: 0 (nvidia-smi)"));
}

}  // namespace
}  // namespace gpuward::exporter
