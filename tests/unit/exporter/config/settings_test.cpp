#include "exporter/config/settings.h"

#include <gtest/gtest.h>

#include "exporter/checks/runner.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

Result<Settings> load(const std::string& yaml) {
  const support::TempDir folder;
  return load_settings({.file = folder.write("config.yaml", yaml)});
}

TEST(Settings, AreTheDefaultsWithoutAFile) {
  const auto settings = load_settings({});

  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->user_space_lines, UserSpaceLines::kMark);
  EXPECT_EQ(settings->findings_age, 24h);
  EXPECT_EQ(settings->kernel_log_path, "/dev/kmsg");
}

// Settings of CONTRACTS A. The two others, KERNEL_LOG_LINES and NVIDIA_LOG_TAIL, mean nothing to a
// reader that follows the whole log.
TEST(Settings, HaveTheDefaultsOfTheReplacedSuite) {
  const auto settings = load_settings({});

  ASSERT_TRUE(settings.has_value());
  const CheckSettings& checks = settings->checks;
  EXPECT_EQ(checks.check_interval, 300s);
  EXPECT_EQ(checks.dcgm_l2_interval, 21'600s);
  EXPECT_EQ(checks.enabled, (std::vector<int>{0, 2, 3}));
  std::vector<int> in_each_cycle;
  for (const CheckEntry& entry : all_checks()) {
    if (entry.rhythm == CheckEntry::Rhythm::kEachCycle && is_enabled(entry, checks))
      in_each_cycle.push_back(entry.number);
  }
  EXPECT_EQ(in_each_cycle, checks.enabled);
  EXPECT_TRUE(settings->node.writes_taint);
  EXPECT_TRUE(settings->node.writes_labels);
  EXPECT_TRUE(settings->node.writes_annotation);
  EXPECT_TRUE(settings->node.writes_condition);
  EXPECT_EQ(checks.dcgm_timeout, 900s);
  EXPECT_EQ(checks.dcgm_l4_timeout, 9000s);
  EXPECT_FALSE(checks.check_timeout) << "each check has its own";
  EXPECT_EQ(checks.nccl_timeout, 1800s);
  EXPECT_FALSE(checks.nccl_isolation_tests);
  EXPECT_EQ(checks.nccl_isolation_timeout, 600s);
  EXPECT_EQ(checks.nccl_min_bus_bandwidth, 0) << "by instance type";
  EXPECT_EQ(checks.efa_test_timeout, 180s);
  EXPECT_FALSE(checks.is_pshc_strict);
  EXPECT_FALSE(settings->catalogue.xid.contains(165));
  EXPECT_EQ(settings->catalogue.nvlink5_default, Severity::kMonitor);
  EXPECT_EQ(settings->catalogue.nvlink_default, Severity::kReset);
  EXPECT_EQ(checks.max_retired_pages_sbe, 60U);
  EXPECT_EQ(checks.efa_min_gbits, 20);
}

// CONTRACTS A: if nothing could be read, the result is fail and RESET, in the seed profile alone.
TEST(Settings, OfTheSeedProfileFailANodeOfWhichNothingCouldBeRead) {
  EXPECT_EQ(load("profile: seed\n")->node.untold_node, UntoldNode::kFails);
  EXPECT_EQ(load("profile: default\n")->node.untold_node, UntoldNode::kWarns);
}

// CONTRACTS C: the paths at which AMD's device plugin looks for the service, and AMD's exporter for
// its file.
TEST(Settings, HaveThePlacesOfAmdsExporter) {
  constexpr const char* kSocket =
      "/var/lib/amd-metrics-exporter/amdgpu_device_metrics_exporter_grpc.socket";
  EXPECT_EQ(Settings().amd_health.socket, kSocket);
  EXPECT_EQ(Settings().amd_config, "/etc/metrics/config.json");
}

TEST(Settings, ReadGpusAtLeastEveryThirtySeconds) {
  EXPECT_LE(Settings().checks.gpu_interval, 30s);
}

TEST(Settings, AreAllReadFromAFile) {
  const auto settings = load(
      "profile: seed\n"
      "xid:\n"
      "  \"79\": {severity: isolate, action: CONTACT_SUPPORT, cleared_by: operator}\n"
      "  13: {severity: NONE}\n"
      "sxid:\n"
      "  \"12028\": {severity: reset}\n"
      "nvlink_default: reboot\n"
      "nvlink5_default: reset\n"
      "driver_branch: 550\n"
      "kernel_log: {path: /var/log/kern.log, user_space_lines: refuse}\n"
      "findings: {age: 2h}\n"
      "log: {level: debug}\n");

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->catalogue.profile, xid::Profile::kSeed);
  EXPECT_EQ(settings->catalogue.xid.at(79).severity, Severity::kIsolate);
  EXPECT_EQ(settings->catalogue.xid.at(79).action, "CONTACT_SUPPORT");
  EXPECT_EQ(settings->catalogue.xid.at(79).cleared_by, ClearedBy::kOperator);
  EXPECT_EQ(settings->catalogue.xid.at(13).severity, Severity::kNone);
  EXPECT_EQ(settings->catalogue.sxid.at(12028).severity, Severity::kReset);
  EXPECT_EQ(settings->catalogue.nvlink_default, Severity::kReboot);
  EXPECT_EQ(settings->catalogue.nvlink5_default, Severity::kReset);
  EXPECT_EQ(settings->catalogue.driver_branch, 550U);
  EXPECT_EQ(settings->kernel_log_path, "/var/log/kern.log");
  EXPECT_EQ(settings->user_space_lines, UserSpaceLines::kRefuse);
  EXPECT_EQ(settings->findings_age, 2h);
  EXPECT_EQ(settings->log_level, LogLevel::kDebug);
}

TEST(Settings, HaveProgramsThatAreChecks) {
  const auto settings = load(
      "checks:\n"
      "  programs:\n"
      "    - {name: ntp, command: [/opt/check_ntp.sh]}\n"
      "    - {name: scratch-disk, command: [/opt/check_disk.sh, --most, \"90\"], interval: 2m,\n"
      "       timeout: 10s, max_output: 80, code: DiskFull, severity: reset}\n");

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  ASSERT_EQ(settings->checks.programs.size(), 2U);
  const ProgramSettings& ntp = settings->checks.programs[0];
  EXPECT_EQ(ntp.severity, Severity::kMonitor);
  EXPECT_EQ(ntp.interval, 60s);
  const ProgramSettings& disk = settings->checks.programs[1];
  EXPECT_EQ(disk.name, "scratch-disk");
  EXPECT_EQ(disk.command, (std::vector<std::string>{"/opt/check_disk.sh", "--most", "90"}));
  EXPECT_EQ(disk.interval, 2min);
  EXPECT_EQ(disk.timeout, 10s);
  EXPECT_EQ(disk.max_output, 80U);
  EXPECT_EQ(disk.code, "DiskFull");
  EXPECT_EQ(disk.severity, Severity::kReset);
}

TEST(Settings, HaveRulesOnLinesOfTheKernelLog) {
  const auto settings = load(
      "kernel_log:\n"
      "  rules:\n"
      "    - {code: TaskHung, pattern: 'task \\S+:\\w+ blocked for more than \\w+ seconds'}\n"
      "    - {code: OOMKilling, pattern: Killed process, severity: none, cleared_by: age}\n");

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  const auto& rules = settings->line_rules.all();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].severity, Severity::kMonitor);
  EXPECT_EQ(rules[0].cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(rules[1].code, "OOMKilling");
  EXPECT_EQ(rules[1].severity, Severity::kNone);
  EXPECT_EQ(rules[1].cleared_by, ClearedBy::kAge);
  EXPECT_EQ(settings->line_rules.match("Killed process 12 (python)").size(), 1U);
}

std::string many_rules() {
  std::string yaml = "kernel_log:\n  rules:\n";
  for (int i = 0; i < 129; ++i) yaml += "    - {code: a, pattern: b}\n";
  return yaml;
}

TEST(Settings, RefuseMoreRulesThanAreMatchedAtOnce) {
  const auto settings = load(many_rules());

  ASSERT_FALSE(settings.has_value());
  EXPECT_NE(settings.error().message.find("config.yaml:2: kernel_log.rules: there are more"),
            std::string::npos)
      << settings.error().message;
}

std::string many_programs() {
  std::string yaml = "checks:\n  programs:\n";
  for (int i = 0; i < 33; ++i)
    yaml += "    - {name: p" + std::to_string(i) + ", command: [/bin/true]}\n";
  return yaml;
}

TEST(Settings, RefuseMoreProgramsThanMayRunBesideEachOther) {
  const auto settings = load(many_programs());

  ASSERT_FALSE(settings.has_value());
  EXPECT_NE(settings.error().message.find("more than 32 programs"), std::string::npos);
}

struct Fault {
  const char* yaml;
  const char* says;
};

class SettingsFault : public testing::TestWithParam<Fault> {};

TEST_P(SettingsFault, IsSaidWithFileAndLine) {
  const auto settings = load(GetParam().yaml);

  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(settings.error().message.find(GetParam().says), std::string::npos)
      << settings.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SettingsFault,
    testing::Values(
        Fault{"profile: seeed\n", "config.yaml:1"},
        Fault{"# a\nxid:\n  \"79\": {severity: bad}\n", "config.yaml:3"},
        Fault{"xid:\n  \"79\": {cleared_by: magic}\n", "config.yaml:2"},
        Fault{"xid:\n  \"seven\": {severity: reset}\n", "config.yaml:2"},
        Fault{"xid:\n  \"79\": reset\n", "config.yaml:2"},
        Fault{"xid:\n  \"79\": {}\n  \"079\": {}\n", "config.yaml:3"},
        Fault{"xid:\n  \"79\": {action: \"\"}\n", "config.yaml:2"},
        Fault{"kernel_log: {user_space_lines: maybe}\n", "config.yaml:1"},
        Fault{"kernel_log: {path: \"\"}\n", "config.yaml:1"},
        Fault{"findings: {age: 1s}\n", "config.yaml:1"},
        Fault{"driver_branch: 575.12\n", "config.yaml:1"},
        Fault{"log: {level: loud}\n", "config.yaml:1"},
        Fault{"checks:\n  programs: [{command: [/bin/true]}]\n", "name: is required"},
        Fault{"checks:\n  programs: [{name: ntp}]\n", "command: must contain"},
        Fault{"checks:\n  programs: [{name: 4ntp, command: [a]}]\n", "name: must begin"},
        Fault{"checks:\n  programs: [{name: \"a b\", command: [a]}]\n", "name: must"},
        Fault{"checks:\n  programs: [{name: xid, command: [a]}]\n", "choose another"},
        Fault{"checks:\n  programs: [{name: topology, command: [a]}]\n", "config.yaml:2"},
        Fault{"checks:\n  programs:\n  - {name: a, command: [a]}\n"
              "  - {name: a, command: [a]}\n",
              "config.yaml:4"},
        Fault{"checks:\n  programs: [{name: a, command: [a], severity: none}]\n",
              "severity: must be one of"},
        Fault{"checks:\n  programs: [{name: a, command: [a], interval: 1s}]\n",
              "interval: must be"},
        Fault{"checks:\n  programs: [{name: a, command: [a], max_output: 0}]\n",
              "max_output: must be"},
        Fault{"checks:\n  programs: [{name: a, command: [a], code: \"\"}]\n", "code: must begin"},
        Fault{"kernel_log:\n  rules: [{pattern: a}]\n", "code: is required"},
        Fault{"kernel_log:\n  rules: [{code: a}]\n", "pattern: is required"},
        Fault{"kernel_log:\n  rules: [{code: a b, pattern: a}]\n", "code: must begin"},
        Fault{"kernel_log:\n  rules: [{code: a, pattern: '(a'}]\n", "config.yaml:2"},
        Fault{"kernel_log:\n  rules: [{code: a, pattern: 'a(?=b)'}]\n", "no look-arounds"},
        Fault{"kernel_log:\n  rules: [{code: a, pattern: a, severity: bad}]\n",
              "severity: must be one of"},
        Fault{"kernel_log:\n  rules: [{code: a, pattern: a, cleared_by: check}]\n",
              "cleared_by: must be one of"},
        Fault{"unknown: 1\n", "unknown"}, Fault{"a: [\n", "config.yaml:"}));

TEST(CurrentPolicy, IsReplacedAsAWhole) {
  CurrentPolicy current({});
  const auto before = current.get();
  Settings changed;
  changed.catalogue.xid[13].severity = Severity::kIsolate;

  current.set(changed);

  xid::Event event;
  event.code = 13;
  EXPECT_EQ(before->catalogue->judge(event).severity, Severity::kMonitor);
  EXPECT_EQ(current.get()->catalogue->judge(event).severity, Severity::kIsolate);
}

TEST(Settings, OfTheChecksAreAllReadFromAFile) {
  const auto settings = load(
      "gpu: {interval: 30s, timeout: 10s, settling_time: 5m}\n"
      "checks:\n"
      "  interval: 60s\n"
      "  enabled: [\"0\", \"3\"]\n"
      "  dcgm_l2: {enabled: false, interval: 12h}\n"
      "  timeouts: {\"2\": 45s}\n"
      "  results_dir: /results\n"
      "  tool_dirs: [/a, /b]\n"
      "  max_retired_pages_sbe: 7\n"
      "  efa_min_gbits: 12.5\n"
      "  dcgm_bare_fail: isolate\n"
      "  dcgm_l4_beside_telemetry: true\n"
      "instance:\n"
      "  type: x9.huge\n"
      "  profiles: [{type: x9.huge, gpus: 4, efa: 2, nvlink: true, provider: efa}]\n"
      "node: {preset: konduktor, labels: false, taint: false, annotation: false, condition: "
      "false}\n"
      "pods: {socket: /kubelet.sock}\n"
      "metrics: {dcgm_compat: true, efa_compat: true, per_link: true}\n");

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  const CheckSettings& checks = settings->checks;
  EXPECT_EQ(checks.gpu_interval, 30s);
  EXPECT_EQ(checks.gpu_timeout, 10s);
  EXPECT_EQ(checks.settling_time, 5min);
  EXPECT_EQ(checks.check_interval, 60s);
  EXPECT_EQ(checks.enabled, (std::vector<int>{0, 3}));
  EXPECT_FALSE(checks.is_dcgm_l2_enabled);
  EXPECT_EQ(checks.dcgm_l2_interval, 12h);
  EXPECT_EQ(checks.timeouts.at(2), 45s);
  EXPECT_EQ(checks.results_dir, "/results");
  EXPECT_EQ(checks.tool_dirs, (std::vector<std::filesystem::path>{"/a", "/b"}));
  EXPECT_EQ(checks.max_retired_pages_sbe, 7U);
  EXPECT_EQ(checks.efa_min_gbits, 12.5);
  EXPECT_EQ(checks.dcgm_bare_fail, Severity::kIsolate);
  EXPECT_TRUE(checks.is_dcgm_l4_beside_telemetry);
  EXPECT_EQ(checks.instance_type, "x9.huge");
  ASSERT_TRUE(checks.profiles.find("x9.huge").has_value());
  EXPECT_EQ(checks.profiles.find("x9.huge")->gpus, 4U);
  EXPECT_EQ(settings->node, (NodeSettings{NodePreset::kKonduktor, false, false, false, false}));
  EXPECT_EQ(settings->kubelet_socket, "/kubelet.sock");
  EXPECT_TRUE(settings->metrics.dcgm_compat);
  EXPECT_TRUE(settings->metrics.efa_compat);
  EXPECT_TRUE(settings->metrics.per_link);
}

class WrongCheckSettings : public testing::TestWithParam<const char*> {};

TEST_P(WrongCheckSettings, AreRefusedWithTheirLine) {
  const auto settings = load(GetParam());

  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(settings.error().message.find("config.yaml:1"), std::string::npos)
      << settings.error().message;
}

INSTANTIATE_TEST_SUITE_P(Texts, WrongCheckSettings,
                         testing::Values("checks: {interval: 0s}", "checks: {enabled: [\"7\"]}",
                                         "checks: {timeouts: {\"9\": 5s}}",
                                         "checks: {dcgm_bare_fail: bad}", "gpu: {interval: 2h}",
                                         "node: {preset: gke}", "instance: {profiles: [{gpus: 8}]}",
                                         "metrics: {per_link: 3}"));

// AMD's own exporter reads a broken file as one without thresholds.
TEST(Settings, AreRefusedWholeIfAmdsFileIsBroken) {
  const support::TempDir folder;
  const auto amd = folder.write("amd.json", R"({"GPUConfig": {"HealthThresholds": )");

  const auto settings =
      load_settings({.file = folder.write("config.yaml", "amd: {config: " + amd.string() + "}")});

  ASSERT_FALSE(settings.has_value());
  EXPECT_NE(settings.error().message.find("amd.json"), std::string::npos);
}

TEST(Settings, TakeAmdsThresholdsFromAmdsOwnFile) {
  const support::TempDir folder;
  const auto amd =
      folder.write("amd.json", R"({"GPUConfig": {"HealthThresholds": {"GPU_ECC_UNCORRECT_UMC": 5,
                                                         "GPU_CPER_MAX_AGE": "30m"}}})");

  const auto settings = load_settings(
      {.file = folder.write("config.yaml", "amd:\n  config: " + amd.string() +
                                               "\n  health_service: {enabled: true, socket: "
                                               "/a.sock, all_vendors: true}\n")});

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->checks.ras_thresholds.at("umc"), 5U);
  EXPECT_EQ(settings->checks.cper_max_age, std::chrono::minutes(30));
  EXPECT_EQ(settings->amd_health.is_enabled, true);
  EXPECT_EQ(settings->amd_health.socket, "/a.sock");
  EXPECT_TRUE(settings->amd_health.has_all_vendors);
}

TEST(Settings, LeaveAmdsHealthServiceToWhatIsSeenIfTheySayNothing) {
  EXPECT_EQ(load("amd: {health_service: {socket: /a.sock}}")->amd_health.is_enabled, std::nullopt);
  EXPECT_EQ(load("amd: {health_service: {enabled: false}}")->amd_health.is_enabled, false);
  EXPECT_FALSE(load("amd: {health_service: {enabled: \"true\"}}").has_value());
}

TEST(Settings, HaveAmdsDefaultsIfAmdsFileIsNotThere) {
  const auto settings = load("amd: {config: /nonexistent/config.json}");

  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->amd_thresholds, default_amd_thresholds());
}

}  // namespace
}  // namespace gpuward::exporter
