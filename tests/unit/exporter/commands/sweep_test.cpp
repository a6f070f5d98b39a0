#include "exporter/commands/sweep.h"

#include "exporter/commands/sweep_candidates.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "tests/unit/exporter/commands/sweep_cluster.h"

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kIsolateLine =
    R"({"check":"1-dcgm-diag-l2","status":"FAIL","severity":"ISOLATE","details":"memory"})";

TEST_F(SweepTest, AGoodNodeIsMarkedAndGivenBack) {
  add_node("gpu-01");
  const auto report = sweep();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->passed, ElementsAre("gpu-01"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "pass");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kSeverity)), "PASS");
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)));
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kMaintenanceClaim)), "");
  const auto diagnosis =
      parse_diagnosis(annotation("gpu-01", kGpuwardNames(NodeName::kSweepResult)), "sweep");
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->status, NodeStatus::kPass);
}

TEST_F(SweepTest, BadNodeIsLabelledTaintedAndTakenOutOfMaintenance) {
  add_node("gpu-01");
  jobs_.ends["gpu-01"] = {.exit_code = 1, .message = std::string("starting\n") + kIsolateLine};
  const auto report = sweep();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->failed, ElementsAre("gpu-01"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kSeverity)), "ISOLATE");
  EXPECT_TRUE(has_taint("gpu-01", kGpuwardNames(NodeName::kUnhealthy)));
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
}

TEST_F(SweepTest, AJobThatCouldNotTellLeavesTheNodeAsItWas) {
  const std::map<std::string, JobEnd> ends = {
      {"killed", {.exit_code = 137}},
      {"silent", {.exit_code = 1, .message = "Segmentation fault"}},
      {"unsure", {.exit_code = 3, .message = R"({"check":"1-dcgm-diag-l2","status":"ERROR"})"}},
      {"skipped", {.message = kSkipLine}},
      {"late", {.no_pod_why = "DeadlineExceeded"}},
      {"endless", {.never = true}}};
  jobs_.ends = ends;
  for (const auto& [name, end] : ends) add_node(name);
  const auto report = sweep();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->untold,
              UnorderedElementsAre("killed", "silent", "unsure", "late", "endless"));
  EXPECT_THAT(report->skipped, ElementsAre("skipped"));
  for (const auto& [name, end] : ends) {
    EXPECT_EQ(label(name, kGpuwardNames(NodeName::kStatus)), "") << name;
    EXPECT_FALSE(has_taint(name, kGpuwardNames(NodeName::kUnhealthy))) << name;
    EXPECT_FALSE(has_taint(name, kGpuwardNames(NodeName::kMaintenance))) << name;
  }
  // The Job that never ended must not keep running on a node that is open again.
  EXPECT_EQ(kube_.requests("DELETE", kJobs).size(), 1U);
}

// The default selector is a label of GPU feature discovery, which some clusters lack.
TEST_F(SweepTest, WarnsIfNoNodeMatchesTheSelector) {
  const auto said_with = [this](const std::string& selector) {
    SweepProcess process(kube_, jobs_, clock_);
    kube::Api api = process.make_api();
    SweepOptions made = options();
    made.selector = selector;
    testing::internal::CaptureStderr();
    {
      Log log(LogLevel::kWarn, LogFormat::kLogfmt);
      EXPECT_TRUE(Sweep(made, api, clock_, log).run({}));
    }
    return testing::internal::GetCapturedStderr();
  };
  add_node("gpu-01");
  EXPECT_THAT(said_with("pool=a100"),
              testing::AllOf(testing::HasSubstr("No node matches the selector"),
                             testing::HasSubstr("pool=a100")));
  EXPECT_EQ(said_with(SweepOptions().selector), "");
}

TEST_F(SweepTest, TellsHowFarItIs) {
  for (const char* name : {"bad", "endless", "good", "unsure"}) add_node(name);
  jobs_.ends["bad"] = {.exit_code = 1, .message = kIsolateLine};
  jobs_.ends["endless"] = {.never = true};
  jobs_.ends["unsure"] = {.exit_code = 137};
  add_node("zz-one-too-many");
  SweepOptions told = options();
  told.max_nodes = 4;
  std::vector<SweepCount> counts;
  told.on_progress = [&](const SweepCount& count) { counts.push_back(count); };

  ASSERT_TRUE(sweep(told));

  ASSERT_GE(counts.size(), 5U);
  EXPECT_EQ(counts.front(), (SweepCount{.all = 4}));
  EXPECT_EQ(counts[3], (SweepCount{.running = 3, .all = 4}));
  EXPECT_EQ(counts[counts.size() - 2],
            (SweepCount{.done = 1, .running = 1, .failed = 2, .all = 4}));
  EXPECT_EQ(counts.back(), (SweepCount{.done = 1, .failed = 3, .all = 4}));
}

// The old sweep waited its whole time-out for each Job in turn, and held the taints meanwhile.
TEST_F(SweepTest, WaitsForAllJobsTogether) {
  for (int i = 0; i < 5; ++i) {
    add_node("gpu-0" + std::to_string(i));
    jobs_.ends["gpu-0" + std::to_string(i)] = {.never = true};
  }
  const auto began = clock_.steady();
  ASSERT_TRUE(sweep());
  EXPECT_LT(clock_.steady() - began, std::chrono::seconds(2 * 900));
  EXPECT_GE(clock_.steady() - began, std::chrono::seconds(900));
}

TEST_F(SweepTest, EndsWithItsJobsAndNotWithItsTimeOut) {
  add_node("gpu-01");
  const auto began = clock_.steady();
  ASSERT_TRUE(sweep());
  EXPECT_LT(clock_.steady() - began, std::chrono::seconds(30));
}

// The replaced suite counted completed pods as busy, MIG and resource claims as idle, and sent Jobs
// to cordoned nodes.
TEST_F(SweepTest, TakesOnlyNodesWhoseGpusNobodyUses) {
  for (const char* name :
       {"busy", "busy-mig", "busy-amd", "busy-claim", "busy-class", "agents", "done", "cpu-work"})
    add_node(name);
  add_pod("p1", "busy", "nvidia.com/gpu");
  add_pod("p2", "busy-mig", "nvidia.com/mig-1g.10gb", "Pending");
  add_pod("p3", "busy-amd", "amd.com/gpu");
  Json claims = fakes::pod("p4", "busy-claim");
  claims["spec"]["resourceClaims"] = Json::array({{{"name", "gpu"}}});
  kube_.create("/api/v1/namespaces/default/pods", claims);
  Json by_class = fakes::pod("p7", "busy-class");
  by_class["spec"]["runtimeClassName"] = "nvidia";
  kube_.create("/api/v1/namespaces/default/pods", by_class);
  Json agent = fakes::pod("p8", "agents");
  agent["spec"]["runtimeClassName"] = "nvidia";
  agent["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "DaemonSet"},
                                                       {"name", "device-plugin"},
                                                       {"uid", "d"},
                                                       {"controller", true}}});
  kube_.create("/api/v1/namespaces/default/pods", agent);
  add_pod("p5", "done", "nvidia.com/gpu", "Succeeded");
  add_pod("p6", "cpu-work", "cpu");
  const auto report = sweep();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->passed, UnorderedElementsAre("agents", "done", "cpu-work"));
  EXPECT_EQ(report->left_alone, 5U);
}

TEST_F(SweepTest, LeavesCordonedUnhealthyAndClaimedNodesAlone) {
  const auto tainted = [](std::string_view key) {
    return Json{{"spec", {{"taints", Json::array({{{"key", key}, {"effect", "NoSchedule"}}})}}}};
  };
  for (const char* name : {"cordoned", "remediated", "unready", "no-gpu"}) add_node(name);
  patch_node("cordoned", {{"spec", {{"unschedulable", true}}}});
  patch_node("remediated", tainted("gpuward.dev/remediation"));
  int number = 0;
  for (const NodeNames& names : kAllNodeNames) {
    const std::string suffix = std::to_string(++number);
    for (const char* name : {"unhealthy-", "maintained-", "quarantined-"}) add_node(name + suffix);
    patch_node("unhealthy-" + suffix, tainted(names(NodeName::kUnhealthy)));
    patch_node("maintained-" + suffix, tainted(names(NodeName::kMaintenance)));
    patch_node("quarantined-" + suffix,
               {{"metadata", {{"labels", {{names(NodeName::kMode), "quarantine"}}}}}});
  }
  kube_.patch_status(std::string(kNodes) + "/unready", {{"status", {{"conditions", nullptr}}}});
  patch_node("no-gpu", {{"metadata", {{"labels", {{"nvidia.com/gpu.present", nullptr}}}}}});
  const auto report = sweep();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->passed, IsEmpty());
  EXPECT_EQ(jobs_created(), 0U);
  // It belongs to another program: there is no claim.
  EXPECT_TRUE(has_taint("maintained-1", kGpuwardNames(NodeName::kMaintenance)));
}

TEST_F(SweepTest, LeavesANodeAloneWhoseLabelAsksForTheGpus) {
  for (const char* name : {"upgraded", "replaced", "reset"}) add_node(name);
  pause_operands("upgraded");
  pause_operands("reset", "paused-for-gpuward-reset");
  patch_node("replaced",
             {{"metadata",
               {{"labels", {{"nvidia.com/gpu-driver-upgrade-state", "pod-restart-required"}}}}}});
  const auto report = sweep();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->passed, ElementsAre("reset"));
  EXPECT_EQ(report->left_alone, 2U);
  EXPECT_EQ(jobs_created(), 1U);
}

TEST_F(SweepTest, EndsTheJobOfANodeWhoseLabelComesToAskForTheGpus) {
  add_node("gpu-01");
  add_node("gpu-02");
  jobs_.ends["gpu-01"] = {.never = true};
  SweepOptions made = options();
  made.on_progress = [&](const SweepCount& count) {
    if (count.running == 1) pause_operands("gpu-01");
  };
  const auto began = clock_.steady();
  const auto report = sweep(made);
  ASSERT_TRUE(report);
  EXPECT_LT(clock_.steady() - began, std::chrono::seconds(30));
  EXPECT_THAT(report->skipped, ElementsAre("gpu-01"));
  EXPECT_THAT(report->passed, ElementsAre("gpu-02"));
  EXPECT_THAT(report->untold, IsEmpty());
  EXPECT_EQ(kube_.requests("DELETE", kJobs).size(), 1U);
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kMaintenanceClaim)), "");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "");
}

TEST_F(SweepTest, UsesTheNamesThatTheExporterOfTheNodeUses) {
  for (const char* name : {"gpu-01", "gpu-02"}) {
    add_node(name);
    patch_node(
        name, {{"metadata", {{"annotations", {{std::string(kPresetAnnotation), "aws-samples"}}}}}});
  }
  jobs_.ends["gpu-02"] = {.exit_code = 1, .message = kFailLine};
  ASSERT_TRUE(sweep());
  EXPECT_EQ(label("gpu-01", "gpu-healthcheck.aws-samples.io/status"), "pass");
  EXPECT_EQ(label("gpu-02", "gpu-healthcheck.aws-samples.io/status"), "fail");
  EXPECT_TRUE(has_taint("gpu-02", "gpu-healthcheck.aws-samples.io/unhealthy"));
  EXPECT_NE(annotation("gpu-01", "gpu-healthcheck.aws-samples.io/last-sweep"), "");
  const Json job = parse_json(kube_.requests("POST", kJobs).at(0).body).value();
  EXPECT_EQ(job["metadata"]["labels"]["gpu-healthcheck.aws-samples.io/target-node"], "gpu-01");
  for (const char* name : {"gpu-01", "gpu-02"})
    EXPECT_EQ(label(name, kGpuwardNames(NodeName::kStatus)), "") << name;
}

TEST_F(SweepTest, TakesNoMoreNodesThanItMayAndThoseThatWaitedLongest) {
  for (int i = 0; i < 6; ++i) add_node("gpu-0" + std::to_string(i));
  SweepOptions few = options();
  few.max_nodes = 4;
  EXPECT_EQ(sweep(few)->passed.size(), 4U);
  clock_.advance(std::chrono::hours(6));
  few.owner = "sweep 2";
  const auto second = sweep(few);
  ASSERT_TRUE(second);
  EXPECT_THAT(second->passed, ::testing::IsSupersetOf({"gpu-04", "gpu-05"}));
}

TEST_F(SweepTest, NodesThatNeverTellKeepNoOtherFromItsTurn) {
  for (const char* name : {"a-mig", "b-mig", "c-good"}) add_node(name);
  jobs_.ends["a-mig"] = jobs_.ends["b-mig"] = {.message = kSkipLine};
  SweepOptions few = options();
  few.max_nodes = 2;
  EXPECT_THAT(sweep(few)->skipped, UnorderedElementsAre("a-mig", "b-mig"));
  clock_.advance(std::chrono::hours(6));
  few.owner = "sweep 2";
  EXPECT_THAT(sweep(few)->passed, ElementsAre("c-good"));
}

// A pod comes between the look and the taint.
TEST_F(SweepTest, LooksAgainOnceTheTaintKeepsPodsAway) {
  add_node("gpu-01");
  class Intruder final : public http::Client {
   public:
    Intruder(fakes::FakeKube& kube, JobRunner& jobs) : client_(kube, jobs), kube_(kube) {}
    Result<http::ClientResponse> send(const http::ClientRequest& request) override {
      if (request.method == "PATCH" && !std::exchange(has_come_, true)) {
        Json pod = fakes::pod("late", "gpu-01");
        pod["spec"]["containers"][0]["resources"]["limits"] = {{"nvidia.com/gpu", "8"}};
        kube_.create("/api/v1/namespaces/default/pods", pod);
      }
      return client_.send(request);
    }
    Result<http::ClientResponse> stream(const http::ClientRequest&, std::chrono::milliseconds,
                                        std::stop_token,
                                        const std::function<bool(std::string_view)>&) override {
      return fail(ErrorKind::kInternal, "nobody watches here");
    }

   private:
    MortalClient client_;
    fakes::FakeKube& kube_;
    bool has_come_ = false;
  } client(kube_, jobs_);
  NoCredentials credentials;
  kube::ApiOptions api_options;
  api_options.server = "http://fake";
  kube::Api api(api_options, client, credentials, clock_);
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  const auto report = Sweep(options(), api, clock_, log).run({});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->left_alone, 1U);
  EXPECT_EQ(jobs_created(), 0U);
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
}

TEST_F(SweepTest, APassOverrulesNoVerdictOfTheNodesOwnAgent) {
  for (const NodeNames& names : kAllNodeNames) {
    SCOPED_TRACE(names(NodeName::kStatus));
    const std::string node = "gpu" + std::to_string(jobs_created());
    add_node(node);
    for (const char* status : {"warn", "agent-stopped"}) {
      patch_node(node, {{"metadata", {{"labels", {{names(NodeName::kStatus), status}}}}}});
      ASSERT_TRUE(sweep());
      EXPECT_EQ(label(node, names(NodeName::kStatus)), status);
      EXPECT_EQ(label(node, names(NodeName::kSeverity)), "");
    }
  }
}

TEST_F(SweepTest, AStopGivesBackEveryNodeAndEndsItsJobs) {
  add_node("gpu-01");
  add_node("gpu-02");
  jobs_.ends["gpu-01"] = jobs_.ends["gpu-02"] = {.never = true};
  std::stop_source stop;
  class StopAtJob final : public http::Client {
   public:
    StopAtJob(fakes::FakeKube& kube, JobRunner& jobs, std::stop_source& stop)
        : client_(kube, jobs), stop_(stop) {}
    Result<http::ClientResponse> send(const http::ClientRequest& request) override {
      if (request.method == "GET" && request.url.find("/jobs/") != std::string::npos)
        stop_.request_stop();
      return client_.send(request);
    }
    Result<http::ClientResponse> stream(const http::ClientRequest&, std::chrono::milliseconds,
                                        std::stop_token,
                                        const std::function<bool(std::string_view)>&) override {
      return fail(ErrorKind::kInternal, "nobody watches here");
    }

   private:
    MortalClient client_;
    std::stop_source& stop_;
  } client(kube_, jobs_, stop);
  NoCredentials credentials;
  kube::ApiOptions api_options;
  api_options.server = "http://fake";
  kube::Api api(api_options, client, credentials, clock_);
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  const auto report = Sweep(options(), api, clock_, log).run(stop.get_token());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->untold, UnorderedElementsAre("gpu-01", "gpu-02"));
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
  EXPECT_FALSE(has_taint("gpu-02", kGpuwardNames(NodeName::kMaintenance)));
  EXPECT_EQ(kube_.requests("DELETE", kJobs).size(), 2U);
}

TEST_F(SweepTest, ForeignTaintsAndCordonsAreAsBefore) {
  add_node("gpu-01");
  const Json foreign = {{"key", "theirs"}, {"value", "1"}, {"effect", "PreferNoSchedule"}};
  patch_node("gpu-01", {{"spec", {{"taints", Json::array({foreign})}}}});
  const Json before = node("gpu-01")["spec"];
  ASSERT_TRUE(sweep());
  EXPECT_EQ(node("gpu-01")["spec"], before);
}

}  // namespace
}  // namespace gpuward::exporter
