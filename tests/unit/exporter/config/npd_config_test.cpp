// The files of tests/testdata/npd have the rules of node-problem-detector's own kernel-monitor.json
// and of the gpu-monitor.json of npd-gpu, with messages of our own.
#include "exporter/config/npd_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "exporter/config/settings.h"
#include "tests/places.inc"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::filesystem::path kFiles = GPUWARD_SOURCE_DIR "/tests/testdata/npd";

class NpdConfig : public ::testing::Test {
 protected:
  Result<Settings> load(std::vector<std::filesystem::path> places, const std::string& yaml = "") {
    return load_settings({.file = folder_.write("gpuward.yaml", yaml), .npd = std::move(places)});
  }
  Result<Settings> load_text(const std::string& json) {
    return load({folder_.write("monitor.json", json)});
  }
  // Loads a custom plug-in's file with these rules.
  Result<Settings> load_rules(const std::string& rules) {
    return load_text(R"({"plugin": "custom", "rules": [)" + rules + "]}");
  }
  static std::vector<std::string> codes_of(const Settings& settings, std::string_view line) {
    std::vector<std::string> codes;
    for (const LineRule& rule : settings.line_rules.match(line)) codes.push_back(rule.code);
    return codes;
  }

  support::TempDir folder_;
};

TEST_F(NpdConfig, TakesEachRuleOfTheShippedKernelMonitor) {
  const auto settings = load({kFiles / "kernel-monitor.json"});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->line_rules.all().size(), 12U);
  for (const auto& [line, code] :
       {std::pair{"Killed process 7 (python) total-vm:9kB, anon-rss:8kB, file-rss:0kB, x",
                  "OOMKilling"},
        std::pair{"INFO: task jbd2/sda1 8:123 blocked for more than 120 seconds.", "TaskHung"},
        std::pair{"unregister_netdevice: waiting for lo to become free. Usage count = 1",
                  "UnregisterNetDevice"},
        std::pair{"BUG: unable to handle kernel NULL pointer dereference at 0000000000000008",
                  "KernelOops"},
        std::pair{"divide error: 0000 [#1] SMP", "KernelOops"},
        std::pair{"EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2", "Ext4Error"},
        std::pair{"EXT4-fs warning (device sda1): ext4_end_bio:343", "Ext4Warning"},
        std::pair{"Buffer I/O error on dev sda1, logical block 0", "IOError"},
        std::pair{"XFS (nvme1n1): Corruption detected. Shutting down filesystem.",
                  "XfsHasShutdown"},
        std::pair{"EDAC MC0: 1 CE memory read error on CPU_SrcID#0", "MemoryReadError"},
        std::pair{"EXT4-fs (sda1): Remounting filesystem read-only", "FilesystemIsReadOnly"}}) {
    EXPECT_THAT(codes_of(*settings, line), ElementsAre(code)) << line;
  }
  EXPECT_THAT(codes_of(*settings, "INFO: task docker:123 blocked for more than 120 seconds."),
              ::testing::UnorderedElementsAre("DockerHung", "TaskHung"));
  EXPECT_THAT(codes_of(*settings, "usb 1-1: new high-speed USB device"), IsEmpty());
}

TEST_F(NpdConfig, CountsTemporaryRulesAndWatchesPermanentOnesUnlessToldMore) {
  const auto settings =
      load({kFiles / "kernel-monitor.json"}, "npd: {severities: {ReadonlyFilesystem: reboot}}\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  std::map<std::string, Severity> severities;
  for (const LineRule& rule : settings->line_rules.all()) severities[rule.code] = rule.severity;
  EXPECT_EQ(severities["OOMKilling"], Severity::kNone);
  EXPECT_EQ(severities["DockerHung"], Severity::kMonitor);
  EXPECT_EQ(severities["FilesystemIsReadOnly"], Severity::kReboot);
}

// In node-problem-detector a pattern has to match to the end of the last line.
TEST_F(NpdConfig, MatchesToTheEndOfALine) {
  const auto settings = load({kFiles / "kernel-monitor.json"});
  EXPECT_THAT(codes_of(*settings, "Remounting filesystem read-only, or so they say"), IsEmpty());
}

TEST_F(NpdConfig, RunsTheGpuPlugInOnceAsACheckNamedAfterItsCondition) {
  const auto settings = load({kFiles / "gpu-monitor.json"});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  ASSERT_EQ(settings->checks.programs.size(), 1U);
  const ProgramSettings& program = settings->checks.programs[0];
  EXPECT_EQ(program.name, "GPUProblem");
  EXPECT_EQ(program.code, "GPUsAreDown");
  EXPECT_THAT(program.command, ElementsAre("/config/plugin/check_gpu.sh"));
  EXPECT_EQ(program.interval, 60s);
  EXPECT_EQ(program.timeout, 60s);
  EXPECT_EQ(program.max_output, 80U);
}

// From severity reset up the exporter sets the condition that the file names.
TEST_F(NpdConfig, SetsGpuProblemByAnUnchangedFileUnlessToldLess) {
  const auto severity_with = [this](const std::string& yaml) {
    return load({kFiles / "gpu-monitor.json"}, yaml).value().checks.programs.at(0).severity;
  };
  EXPECT_EQ(severity_with(""), Severity::kReset);
  EXPECT_EQ(severity_with("npd: {severities: {GPUProblem: monitor}}"), Severity::kMonitor);
}

TEST_F(NpdConfig, HasTheDefaultsOfNodeProblemDetector) {
  const auto settings = load_rules(
      R"({"type": "temporary", "reason": "NTPIsDown", "path": "/x", "args": ["a", "b"]})");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  const ProgramSettings& program = settings->checks.programs.at(0);
  EXPECT_EQ(program.name, "NTPIsDown");
  EXPECT_THAT(program.command, ElementsAre("/x", "a", "b"));
  EXPECT_EQ(program.interval, 30s);
  EXPECT_EQ(program.timeout, 5s);
  EXPECT_EQ(program.severity, Severity::kMonitor);
}

TEST_F(NpdConfig, TakesTheShorterTimeOutAndARulesOwnInterval) {
  const auto settings = load_text(
      R"({"plugin": "custom", "pluginConfig": {"invoke_interval": "5m0s", "timeout": "20s"}, "rules": [
        {"type": "temporary", "reason": "A", "path": "/a", "timeout": "3s"},
        {"type": "temporary", "reason": "B", "path": "/b", "invoke_interval": "1m30s"}]})");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->checks.programs.at(0).timeout, 3s);
  EXPECT_EQ(settings->checks.programs.at(0).interval, 5min);
  EXPECT_EQ(settings->checks.programs.at(1).timeout, 20s);
  EXPECT_EQ(settings->checks.programs.at(1).interval, 90s);
}

TEST_F(NpdConfig, NumbersFurtherProgramsOfOneCondition) {
  const auto settings = load_rules(
      R"({"type": "permanent", "condition": "NTP", "reason": "Down", "path": "/a"},
         {"type": "permanent", "condition": "NTP", "reason": "Slow", "path": "/b"})");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->checks.programs.at(0).name, "NTP");
  EXPECT_EQ(settings->checks.programs.at(1).name, "NTP-2");
}

TEST_F(NpdConfig, ReadsEachJsonFileOfAFolderAndAddsToTheOwnFile) {
  const auto settings = load({kFiles},
                             "kernel_log: {rules: [{code: Own, pattern: own line}]}\n"
                             "checks: {programs: [{name: own, command: [/own]}]}\n");
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->line_rules.all().size(), 13U);
  EXPECT_EQ(settings->checks.programs.size(), 2U);
  EXPECT_THAT(codes_of(*settings, "own line"), ElementsAre("Own"));
}

TEST_F(NpdConfig, ReadsTheKernelsPartOfOtherLogs) {
  const std::string rules = R"("rules": [{"type": "temporary", "reason": "A", "pattern": "a"}]})";
  EXPECT_TRUE(load_text(R"({"plugin": "filelog", "logPath": "/var/log/kern.log", )" + rules));
  EXPECT_TRUE(
      load_text(R"({"plugin": "journald", "pluginConfig": {"source": "kernel"}, )" + rules));
  EXPECT_FALSE(
      load_text(R"({"plugin": "journald", "pluginConfig": {"source": "docker"}, )" + rules));
}

TEST_F(NpdConfig, SaysWhichFileAndRuleIsWrong) {
  for (const auto& [rules, says] :
       {std::pair{R"({"type": "sometimes", "reason": "A", "path": "/a"})", "rules[0]: type: must"},
        std::pair{R"({"type": "permanent", "reason": "A", "path": "/a"})", "condition: is missing"},
        std::pair{R"({"type": "temporary", "path": "/a"})", "reason: must begin"},
        std::pair{R"({"type": "temporary", "reason": "A"})", "path: is missing"},
        std::pair{R"({"type": "temporary", "reason": "A", "path": "/a", "args": [1]})", "args:"},
        std::pair{R"({"type": "temporary", "reason": "A", "path": "/a", "timeout": "5"})",
                  "timeout: must be a duration"},
        std::pair{R"({"type": "temporary", "reason": "xid", "path": "/a"})", "choose another"}}) {
    const auto settings = load_rules(rules);
    ASSERT_FALSE(settings.has_value()) << rules;
    EXPECT_EQ(settings.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(settings.error().message,
                AllOf(HasSubstr("monitor.json: rules[0]"), HasSubstr(says)));
  }
  EXPECT_THAT(load_text("{").error().message, HasSubstr("monitor.json"));
  EXPECT_THAT(load_text("{}").error().message, HasSubstr("plugin: gpuward replaces only custom"));
  EXPECT_THAT(load_text(R"({"plugin": "kmsg"})").error().message,
              HasSubstr("rules: is not a list"));
  EXPECT_THAT(load({folder_ / "none.json"}).error().message, HasSubstr("none.json"));
}

TEST_F(NpdConfig, RefusesAPatternThatItCannotMatch) {
  for (const auto& [pattern, says] :
       {std::pair{"a\\\\nb", "spans several lines"}, std::pair{"(a", "RE2"},
        std::pair{"", "matches an empty line"}}) {
    const auto settings = load_text(R"({"plugin": "kmsg", "rules": [{"type": "temporary",
        "reason": "A", "pattern": ")" +
                                    std::string(pattern) + R"("}]})");
    ASSERT_FALSE(settings.has_value()) << pattern;
    EXPECT_THAT(settings.error().message, HasSubstr(says));
  }
}

TEST_F(NpdConfig, RefusesASeverityForAConditionThatNoFileHas) {
  const auto settings = load({kFiles}, "npd: {severities: {KernelDeadlok: reboot}}\n");
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("KernelDeadlok"));
}

TEST_F(NpdConfig, RefusesAProgramThatIsInTheOwnFileToo) {
  const auto settings = load({kFiles}, "checks: {programs: [{name: GPUProblem, command: [/x]}]}\n");
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("GPUProblem"));
}

}  // namespace
}  // namespace gpuward::exporter
