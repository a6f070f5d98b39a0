// The real program beside an API server: sweep and quarantine as commands, complete and
// interrupted, and the exporter that writes to its own node.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <latch>
#include <regex>

#include "core/runtime/files.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/fakes/tools/tool_box.h"
#include "tests/places.inc"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/is_gone.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/commands/sweep_cluster.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kFailLine =
    R"({"check":"1-dcgm-diag-l2","status":"FAIL","severity":"RESET","details":"memory"})";
class ClusterProcess : public testing::Test {
 protected:
  void SetUp() override {
    auto server = fakes::FakeApiServer::start(clock_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-healthcheck"}}}});
    exporter_.write("kubeconfig", server_->kubeconfig());
    exporter_.write("config.yaml", "checks: {tool_dirs: [" + tools_.path().string() +
                                       "]}\n"
                                       "xid: {\"79\": {cleared_by: diagnostics}}\n");
  }

  fakes::FakeKube& kube() { return server_->kube(); }
  void add_node(const std::string& name) { kube().create(kNodes, fakes::ready_node(name)); }
  Json node(const std::string& name) { return kube().get(std::string(kNodes) + "/" + name); }
  std::string label(const std::string& name, std::string_view key) {
    return fakes::label_of(node(name), key);
  }
  std::string annotation(const std::string& name, std::string_view key) {
    return fakes::annotation_of(node(name), key);
  }
  bool has_taint(const std::string& name, std::string_view key) {
    return fakes::has_taint(node(name), key);
  }
  std::string condition(const std::string& name) {
    const Json object = node(name);
    for (const Json& one : member_at(member_at(object, "status"), "conditions")) {
      if (one["type"] == kConditionType) return one["status"];
    }
    return {};
  }
  std::vector<Json> jobs() {
    const Json list = kube().get(kJobs);
    return {list["items"].begin(), list["items"].end()};
  }

  std::vector<std::string> cluster_flags() const {
    return {"--kubeconfig=" + exporter_.file("kubeconfig").string()};
  }
  std::unique_ptr<support::Process> start(std::vector<std::string> argv) {
    argv.insert(argv.begin(), exporter_binary().string());
    std::ranges::copy(cluster_flags(), std::back_inserter(argv));
    auto process = support::Process::spawn(
        {.argv = std::move(argv),
         // No program of this machine: it may have libfabric's.
         .env = {{"SWEEP_IMAGE", "registry.example/gpuward:1"}, {"PATH", tools_.path().string()}}});
    EXPECT_TRUE(process) << process.error().message;
    return process ? *std::move(process) : nullptr;
  }
  // Runs on gpu-01, which is cordoned, with the given dcgmi and the exporter's own state.
  std::unique_ptr<support::Process> start_quarantine(const fakes::ToolReply& diag) {
    add_node("gpu-01");
    kube().patch(std::string(kNodes) + "/gpu-01", {{"spec", {{"unschedulable", true}}}});
    tools_.add("dcgmi", "discovery", {.output = "8 GPUs found.\n"});
    tools_.add("dcgmi", "diag", diag);
    return start({"quarantine", "--node.name=gpu-01",
                  "--path.procfs=" + host_.paths().proc.string(),
                  "--gpu.simulate=" + exporter_.file("gpus.yaml").string(),
                  "--kernel-log.path=" + exporter_.log().string(),
                  "--state.path=" + exporter_.file("state").string(),
                  "--config.file=" + exporter_.file("config.yaml").string()});
  }
  // dcgmi's output for eight healthy GPUs.
  static std::string dcgm_pass() {
    Json results = Json::array();
    for (int gpu = 0; gpu < 8; ++gpu) {
      results.push_back({{"entity_group", "GPU"},
                         {"entity_group_id", 1},
                         {"entity_id", gpu},
                         {"status", "Pass"}});
    }
    const Json test = {{"name", "memory"}, {"results", results}};
    const Json category = {{"category", "Hardware"}, {"tests", Json::array({test})}};
    return dump_json({{"DCGM Diagnostic", {{"test_categories", Json::array({category})}}}});
  }

  SystemClock clock_;
  std::unique_ptr<fakes::FakeApiServer> server_;
  support::Environment no_cloud_{"AWS_EC2_METADATA_DISABLED", "true"};
  support::HostTree host_;
  fakes::ToolBox tools_;
  RunningExporter exporter_;
};

TEST_F(ClusterProcess, ASweepMarksWhatPassesAndFailsAndLeavesASkippedNodeAsItWas) {
  for (const char* name : {"good", "bad", "skipped"}) add_node(name);
  JobRunner runner(kube());
  runner.ends["bad"] = {.exit_code = 1, .message = kFailLine};
  runner.ends["skipped"] = {.message = kSkipLine};

  const auto sweep = start({"sweep"});
  ASSERT_TRUE(support::wait_until([&] { return jobs().size() == 3; }, "a Job on each node"));
  EXPECT_TRUE(has_taint("good", kGpuwardNames(NodeName::kMaintenance)));
  for (const Json& job : jobs()) runner.run(job);

  EXPECT_EQ(sweep->wait_exit(), 1) << sweep->error_output();
  EXPECT_THAT(sweep->error_output(),
              HasSubstr("] sweep 1-dcgm-diag-l2: 2 done, 0 running, 1 failed of 3 nodes\n"));
  EXPECT_EQ(sweep->output(), "");
  EXPECT_EQ(label("good", kGpuwardNames(NodeName::kStatus)), "pass");
  EXPECT_EQ(label("bad", kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_TRUE(has_taint("bad", kGpuwardNames(NodeName::kUnhealthy)));
  EXPECT_EQ(label("skipped", kGpuwardNames(NodeName::kStatus)), "");
  EXPECT_EQ(annotation("skipped", kGpuwardNames(NodeName::kSweepResult)), "");
  EXPECT_THAT(sweep->error_output(), HasSubstr("dcgmi is not here"));
  for (const char* name : {"good", "bad", "skipped"}) {
    EXPECT_FALSE(has_taint(name, kGpuwardNames(NodeName::kMaintenance))) << name;
    EXPECT_EQ(annotation(name, kGpuwardNames(NodeName::kMaintenanceClaim)), "") << name;
  }
}

TEST_F(ClusterProcess, ASweepTakesTheSuitesKeysFromTheFolderOfItsConfigMap) {
  for (const char* name : {"gpu-01", "gpu-02"}) add_node(name);
  std::filesystem::create_directories(exporter_.file("suite"));
  exporter_.write("suite/MAX_NODES_PER_SWEEP", "1\n");
  exporter_.write("suite/ENABLE_LABEL", "false\n");
  JobRunner runner(kube());

  const auto sweep = start({"sweep", "--config.directory=" + exporter_.file("suite").string()});
  ASSERT_TRUE(support::wait_until([&] { return jobs().size() == 1; }, "its Job"));
  const std::string node = jobs()[0]["metadata"]["labels"][kGpuwardNames(NodeName::kTargetNode)];
  runner.run(jobs()[0]);

  EXPECT_EQ(sweep->wait_exit(), 0) << sweep->error_output();
  EXPECT_THAT(sweep->error_output(), HasSubstr("of 1 node\n"));
  EXPECT_EQ(label(node, kGpuwardNames(NodeName::kStatus)), "");
}

// Returns the output on a terminal so far, without waiting.
std::string shown_on(int terminal) {
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = ::read(terminal, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  return text;
}

TEST_F(ClusterProcess, ASweepOnATerminalWritesItsProgressOverInOneLine) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  add_node("gpu-01");
  JobRunner runner(kube());
  const std::string command = exporter_binary().string() + " sweep " + cluster_flags()[0] + " 2>" +
                              std::string(::ptsname(terminal));
  auto sweep = support::Process::spawn(
      {.argv = {"/bin/sh", "-c", command}, .env = {{"SWEEP_IMAGE", "registry.example/gpuward:1"}}});
  ASSERT_TRUE(sweep) << sweep.error().message;
  // A line, and a later one that overwrites it.
  static const std::regex kGoneOn(
      "\r\x1b\\[K\\[0:[0-9]{2} of 16:00\\] sweep 1-dcgm-diag-l2: 0 done, 1 running, 0 failed of 1 "
      "node\r+\x1b\\[K\\[0:[0-9]{2} of 16:00\\]");
  std::string shown;
  EXPECT_TRUE(support::wait_until([&] { return jobs().size() == 1; }, "its Job"));
  EXPECT_TRUE(
      support::wait_until([&] { return std::regex_search(shown += shown_on(terminal), kGoneOn); },
                          "a later time in the same line"));
  for (const Json& job : jobs()) runner.run(job);

  EXPECT_EQ((*sweep)->wait_exit(), 0);
  ::close(terminal);
}

TEST_F(ClusterProcess, ASweepThatIsToldToStopLeavesNoMaintenanceTaintAndNoJob) {
  add_node("gpu-01");
  const auto sweep = start({"sweep"});
  ASSERT_TRUE(support::wait_until([&] { return jobs().size() == 1; }, "its Job"));
  ASSERT_TRUE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));

  sweep->signal(SIGTERM);

  EXPECT_EQ(sweep->wait_exit(), 1) << sweep->error_output();
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kMaintenanceClaim)), "");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "");
  EXPECT_TRUE(jobs().empty());
}

TEST_F(ClusterProcess, AQuarantineThatPassesClearsWhatTheRunningExporterHolds) {
  exporter_.start({"--config.file=" + exporter_.file("config.yaml").string()});
  exporter_.append_log(xid_line(79));
  ASSERT_TRUE(exporter_.has("gpuward_node_severity", "3"));

  const auto quarantine = start_quarantine({.output = dcgm_pass()});

  EXPECT_EQ(quarantine->wait_exit(), 0) << quarantine->output() << quarantine->error_output();
  EXPECT_THAT(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)),
              HasSubstr("return-to-service"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "pass");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(tools_.calls("dcgmi").back(), "dcgmi diag -r 4 -j");
  EXPECT_THAT(quarantine->error_output(), HasSubstr("] quarantine 4-dcgm-diag-l4: 1 of 2\n"));
  EXPECT_THAT(quarantine->output(), Not(HasSubstr("1 of 2"))) << "that is for programs";
  EXPECT_TRUE(exporter_.has("gpuward_node_severity", "0"));
  EXPECT_EQ(exporter_.value(xid_series(79)), "1");
}

TEST_F(ClusterProcess, AQuarantineThatIsToldToStopTakesItsMarkOffAndEndsTheDiagnostic) {
  const auto quarantine = start_quarantine({.hangs = true});
  ASSERT_TRUE(support::wait_until([&] { return tools_.child_of("dcgmi").has_value(); },
                                  "the diagnostic runs"));
  ASSERT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "quarantine");

  quarantine->signal(SIGTERM);

  EXPECT_EQ(quarantine->wait_exit(), 1) << quarantine->error_output();
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineClaim)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)), "");
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*tools_.child_of("dcgmi")); },
                                  "nothing is left of dcgmi"));
}

TEST_F(ClusterProcess, AQuarantineEndsItsDiagnosticForADriverUpgrade) {
  const auto quarantine = start_quarantine({.hangs = true});
  ASSERT_TRUE(support::wait_until([&] { return tools_.child_of("dcgmi").has_value(); },
                                  "the diagnostic runs"));

  kube().patch(std::string(kNodes) + "/gpu-01",
               {{"metadata",
                 {{"labels", {{"nvidia.com/gpu-driver-upgrade-state", "pod-restart-required"}}}}}});

  EXPECT_EQ(quarantine->wait_exit(), 3) << quarantine->error_output();
  EXPECT_THAT(quarantine->error_output(), HasSubstr("upgrade-state=pod-restart-required"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)), "");
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(*tools_.child_of("dcgmi")); },
                                  "nothing is left of dcgmi"));
}

TEST_F(ClusterProcess, AQuarantineOfANodeInServiceIsRefused) {
  add_node("gpu-02");
  const auto quarantine = start({"quarantine", "--node.name=gpu-02"});
  EXPECT_EQ(quarantine->wait_exit(), 1);
  EXPECT_THAT(quarantine->error_output(), HasSubstr("kubectl cordon gpu-02"));
  EXPECT_EQ(label("gpu-02", kGpuwardNames(NodeName::kMode)), "");
}

TEST_F(ClusterProcess, TheExporterSaysOnItsNodeWhatItHasFoundAndWhenItHasGone) {
  add_node("gpu-01");
  const support::Environment name("NODE_NAME", "gpu-01");
  // The other checks need the bus of the simulated machine.
  exporter_.write("config.yaml", "checks: {enabled: [\"0\"]}\n");
  auto flags = cluster_flags();
  flags.push_back("--config.file=" + exporter_.file("config.yaml").string());
  exporter_.start(flags);
  EXPECT_TRUE(support::wait_until([&] { return condition("gpu-01") == "False"; },
                                  "the condition of a sound node"));
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)));

  exporter_.append_log(xid_line(79));

  EXPECT_TRUE(support::wait_until(
      [&] {
        return has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)) &&
               condition("gpu-01") == "True";
      },
      "taint and condition"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kSeverity)), "REBOOT");
  EXPECT_THAT(annotation("gpu-01", kGpuwardNames(NodeName::kResults)), HasSubstr("REBOOT"));

  EXPECT_EQ(exporter_.process().stop(), 0);

  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "agent-stopped");
  EXPECT_TRUE(has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)))
      << "a stop takes nothing away";
  EXPECT_EQ(condition("gpu-01"), "True");
}

TEST_F(ClusterProcess, TheExporterReleasesTheGpusForADriverUpgrade) {
  constexpr const char* kAnswering = "gpuward_gpu_worker_state{state=\"answering\"}";
  add_node("gpu-01");
  const auto set_label = [&](const std::string& value) {
    kube().patch(std::string(kNodes) + "/gpu-01",
                 {{"metadata", {{"labels", {{"nvidia.com/gpu.deploy.dcgm-exporter", value}}}}}});
  };
  std::vector<std::string> flags = cluster_flags();
  flags.emplace_back("--node.name=gpu-01");
  exporter_.start(flags);
  ASSERT_TRUE(exporter_.has(kAnswering, "1"));

  set_label("paused-for-driver-upgrade");

  EXPECT_TRUE(exporter_.has("gpuward_gpu_released", "1"));
  EXPECT_TRUE(exporter_.has("gpuward_gpu_worker_state{state=\"released\"}", "1"));
  EXPECT_TRUE(exporter_.has("gpuward_node_unsettled", "1"));
  EXPECT_THAT(exporter_.get("/").body, HasSubstr("paused-for-driver-upgrade"));
  EXPECT_NE(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "fail");

  set_label("paused-for-gpuward-reset");

  EXPECT_TRUE(exporter_.has("gpuward_gpu_released", "0"));
  EXPECT_TRUE(exporter_.has(kAnswering, "1"));
}

TEST_F(ClusterProcess, AnExporterThatStartsInADriverUpgradeOpensNoGpu) {
  add_node("gpu-01");
  const auto set_label = [&](const std::string& value) {
    kube().patch(std::string(kNodes) + "/gpu-01",
                 {{"metadata", {{"labels", {{"nvidia.com/gpu.deploy.dcgm-exporter", value}}}}}});
  };
  set_label("paused-for-driver-upgrade");
  const fake_nvml::FakeNvml nvml("healthy_8x_h100");
  exporter_.use_nvml(fake_nvml::FakeNvml::library());
  std::vector<std::string> flags = cluster_flags();
  flags.emplace_back("--node.name=gpu-01");
  exporter_.start(flags);

  ASSERT_TRUE(exporter_.has("gpuward_gpu_released", "1"));
  EXPECT_EQ(exporter_.value("gpuward_gpu_release_requested"), "1");
  EXPECT_THAT(nvml.calls(), testing::IsEmpty()) << "not even for a second";

  set_label("true");
  EXPECT_TRUE(exporter_.says("GPU library is ready"));
}

TEST_F(ClusterProcess, TheExporterServesWhileItWaitsForItsNodeAndThenOpensTheGpus) {
  add_node("gpu-01");
  std::latch may_answer(1);
  kube().add_fault(
      {.kind = fakes::FaultKind::kUnavailable, .method = "GET", .path = kNodes, .on_hit = [&] {
         may_answer.wait();
       }});
  const fake_nvml::FakeNvml nvml("healthy_8x_h100");
  exporter_.use_nvml(fake_nvml::FakeNvml::library());
  std::vector<std::string> flags = cluster_flags();
  flags.emplace_back("--node.name=gpu-01");
  exporter_.start(flags);
  exporter_.append_log(xid_line(79));

  EXPECT_TRUE(exporter_.has("gpuward_node_severity", "3"));
  EXPECT_TRUE(exporter_.says("GPU library is ready"));
  may_answer.count_down();
}

// This holds from its first second: a driver that does not answer yet says nothing about the node.
TEST_F(ClusterProcess, TheExporterContinuesWithoutItsRightsAndLogsWhatWasForbidden) {
  add_node("gpu-01");
  kube().add_fault({.kind = fakes::FaultKind::kForbidden,
                    .method = "PATCH",
                    .path = std::string(kNodes) + "/gpu-01.*",
                    .times = -1});
  const support::Environment name("NODE_NAME", "gpu-01");

  exporter_.start(cluster_flags());
  exporter_.append_log(xid_line(79));

  EXPECT_TRUE(exporter_.says("Failed to publish node status"))
      << exporter_.process().error_output();
  EXPECT_THAT(exporter_.process().error_output(), HasSubstr("PATCH /api/v1/nodes/gpu-01"));
  EXPECT_TRUE(exporter_.has(xid_series(79), "1"));
  EXPECT_EQ(exporter_.get("/readyz").status, 200);
  EXPECT_TRUE(exporter_.process().running());
}

// The plug-in and its file are unchanged, except for their folder on this machine.
TEST_F(ClusterProcess, AnUnchangedGpuMonitorSetsGpuProblemByWhatItsScriptSays) {
  add_node("gpu-01");
  exporter_.write("check_gpu.sh", "#!/bin/sh\necho \"Count didn't match\"\nexit 1\n");
  std::filesystem::permissions(exporter_.file("check_gpu.sh"), std::filesystem::perms::owner_all);
  std::string monitor =
      read_file(GPUWARD_SOURCE_DIR "/tests/testdata/npd/gpu-monitor.json").value();
  const std::string there = "/config/plugin/check_gpu.sh";
  for (auto at = monitor.find(there); at != std::string::npos; at = monitor.find(there, at + 1))
    monitor.replace(at, there.size(), exporter_.file("check_gpu.sh").string());
  exporter_.write("gpu-monitor.json", monitor);
  const support::Environment name("NODE_NAME", "gpu-01");
  auto flags = cluster_flags();
  flags.push_back("--npd.config=" + exporter_.file("gpu-monitor.json").string());

  exporter_.start(flags);

  EXPECT_TRUE(support::wait_until([&] { return condition("gpu-01") == "True"; }, "GPUProblem"));
  const Json object = node("gpu-01");
  EXPECT_THAT(dump_json(object["status"]["conditions"]),
              testing::AllOf(HasSubstr("\"GPUsAreDown\""), HasSubstr("Count didn't match")));
}

// Its first start on a node that the replaced system has tainted: the GPUs answer before the
// program that finds the fault.
TEST_F(ClusterProcess, AFirstStartTakesNoTaintAwayBeforeEachCheckHasRun) {
  add_node("gpu-01");
  kube().patch(std::string(kNodes) + "/gpu-01",
               {{"spec",
                 {{"taints", Json::array({{{"key", kGpuwardNames(NodeName::kUnhealthy)},
                                           {"value", "true"},
                                           {"effect", "NoSchedule"}}})}}}});
  exporter_.write("check.sh", "#!/bin/sh\necho broken\nexit 1\n");
  std::filesystem::permissions(exporter_.file("check.sh"), std::filesystem::perms::owner_all);
  exporter_.write("config.yaml",
                  "node: {taint: true}\nchecks: {enabled: [], programs: [{name: ours, command: [" +
                      exporter_.file("check.sh").string() + "], code: Ours, severity: reset}]}\n");
  kube().clear_requests();
  auto flags = cluster_flags();
  flags.insert(flags.end(),
               {"--node.name=gpu-01", "--config.file=" + exporter_.file("config.yaml").string()});

  exporter_.start(flags);

  ASSERT_TRUE(support::wait_until([&] { return condition("gpu-01") == "True"; }, "GPUProblem"));
  EXPECT_TRUE(has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)));
  for (const auto& request : kube().requests("PATCH", std::string(kNodes) + "/gpu-01"))
    EXPECT_THAT(request.body, Not(HasSubstr("taints"))) << "it was taken away and set again";
}

// AMD's mock tool changes only the answer of the socket.
TEST_F(ClusterProcess, AnInjectedErrorOfAnAmdGpuSetsNoLabelOnTheNode) {
  add_node("gpu-01");
  exporter_.write("gpus.yaml",
                  "gpus:\n"
                  "  - {uuid: GPU-a, pci: \"0000:c1:00.0\", vendor: amd, name: MI300X}\n"
                  "  - {uuid: GPU-b, pci: \"0000:c2:00.0\", vendor: amd, name: MI300X}\n");
  const std::string socket = exporter_.file("amd/health.socket").string();
  exporter_.write("config.yaml",
                  "node: {preset: amd}\n"
                  "amd: {health_service: {enabled: true, socket: " +
                      socket + "}}\n");
  const support::Environment name("NODE_NAME", "gpu-01");
  std::vector<std::string> flags = cluster_flags();
  flags.push_back("--config.file=" + exporter_.file("config.yaml").string());
  flags.emplace_back("--debug.allow-injection");
  exporter_.start(flags);
  const auto amd_health = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {exporter_binary().string(), "amd-health"});
    words.push_back("--socket=unix://" + socket);
    return support::Process::run({.argv = std::move(words)}).value_or(support::Process::Outcome{});
  };
  ASSERT_TRUE(support::wait_until([&] { return amd_health({"get"}).exit_code == 0; },
                                  "the health service"));
  ASSERT_THAT(amd_health({"inject", "--id=0", "GPU_ECC_UNCORRECT_SEM=1"}).output,
              HasSubstr("\n0   GPU-a  unhealthy"));

  // A real fault of the other GPU makes the exporter write the node's labels once more.
  exporter_.append_log(
      "amdgpu 0000:c2:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) "
      "detected!");

  EXPECT_TRUE(support::wait_until(
      [&] { return label("gpu-01", "metricsexporter.amd.com.gpu.1.state") == "unhealthy"; },
      "the label of the GPU with a fault"));
  EXPECT_EQ(label("gpu-01", "metricsexporter.amd.com.gpu.0.state"), "");
  EXPECT_THAT(amd_health({"get"}).output, HasSubstr("\n0   GPU-a  unhealthy")) << "still";
}

TEST_F(ClusterProcess, NothingIsSaidOfANodeBeforeItsDriverHasAnswered) {
  for (const char* profile : {"default", "seed"}) {
    SCOPED_TRACE(profile);
    const std::string name = std::string("gpu-") + profile;
    add_node(name);
    exporter_.write("config.yaml", "profile: " + std::string(profile) + "\n");
    const fake_nvml::FakeNvml nvml("hung_driver");
    exporter_.use_nvml(fake_nvml::FakeNvml::library());
    std::vector<std::string> flags = cluster_flags();
    flags.insert(flags.end(),
                 {"--node.name=" + name, "--config.file=" + exporter_.file("config.yaml").string(),
                  "--state.path=" + exporter_.file(name).string()});
    exporter_.start(flags);

    ASSERT_TRUE(exporter_.says("Published node status"));

    EXPECT_TRUE(exporter_.has("gpuward_node_publishing_up", "1"));
    EXPECT_EQ(label(name, kGpuwardNames(NodeName::kStatus)), "");
    EXPECT_EQ(label(name, kGpuwardNames(NodeName::kSeverity)), "");
    EXPECT_FALSE(has_taint(name, kGpuwardNames(NodeName::kUnhealthy)));
    EXPECT_EQ(condition(name), "");
  }
}

// Without bus and driver, the exporter removes an older version's `warn`, and the seed profile
// never calls the node broken.
TEST_F(ClusterProcess, NothingIsSaidOfANodeWithoutGpus) {
  support::HostTree tree;
  tree.with_pci("0000:00:02.0", {0x8086, 0x1234, 0x020000, "virtio-pci"});
  for (const char* profile : {"default", "seed"}) {
    SCOPED_TRACE(profile);
    const std::string name = std::string("cpu-") + profile;
    add_node(name);
    kube().patch(std::string(kNodes) + "/" + name,
                 {{"metadata",
                   {{"labels", {{kGpuwardNames(NodeName::kStatus), "warn"}}},
                    {"annotations", {{std::string(kPresetAnnotation), "gpuward"}}}}}});
    exporter_.write("config.yaml", "profile: " + std::string(profile) + "\n");
    exporter_.use_nvml("/nowhere/libnvidia-ml.so.1");
    std::vector<std::string> flags = cluster_flags();
    flags.insert(flags.end(), {"--node.name=" + name, "--path.sysfs=" + tree.paths().sys.string(),
                               "--config.file=" + exporter_.file("config.yaml").string(),
                               "--state.path=" + exporter_.file(name).string()});
    exporter_.start(flags);

    EXPECT_TRUE(
        support::wait_until([&] { return label(name, kGpuwardNames(NodeName::kStatus)).empty(); },
                            "the label of the version before to go"));
    EXPECT_FALSE(has_taint(name, kGpuwardNames(NodeName::kUnhealthy)));
    EXPECT_NE(condition(name), "True");
  }
}

TEST_F(ClusterProcess, TheExporterServesWithoutTheApiServerAndFindsItLater) {
  add_node("gpu-01");
  const auto fault = kube().add_fault({.kind = fakes::FaultKind::kUnavailable, .times = -1});
  std::vector<std::string> flags = cluster_flags();
  flags.emplace_back("--node.name=gpu-01");
  exporter_.start(flags);
  exporter_.append_log(xid_line(79));
  EXPECT_TRUE(exporter_.has("gpuward_node_severity", "3"));
  ASSERT_TRUE(
      support::wait_until([&] { return kube().fault_hits(fault) > 0; }, "a write that fails"));

  kube().clear_faults();

  EXPECT_TRUE(support::wait_until(
      [&] { return has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)); }, "the taint"));
}

}  // namespace
}  // namespace gpuward::exporter
