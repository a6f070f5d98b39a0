#include "exporter/publish/node/node_publisher.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using fakes::Fault;
using fakes::FaultKind;
using std::chrono::seconds;
using support::wait_until;
using ::testing::HasSubstr;

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kNode = "/api/v1/nodes/gpu-01";
constexpr const char* kStatus = "/api/v1/nodes/gpu-01/status";
constexpr const char* kEvents = "/api/v1/namespaces/default/events";
constexpr const char* kPrefix = "gpuward.dev/";

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class NodePublisherTest : public ::testing::Test {
 protected:
  NodePublisherTest() {
    kube_.create(kNodes, fakes::ready_node("gpu-01"));
    store_.set_gpus({gpu_at(0), gpu_at(1)}, kNoon);
    store_.update_health([](Health& health) { health.kernel_log_fault.reset(); });
  }

  void start(NodeSettings settings = {}) {
    NodePublisherOptions options;
    options.node = "gpu-01";
    options.boot_id = "boot-gpu-01";
    options.settings = settings;
    start_with(options);
  }

  void start_with(const NodePublisherOptions& options) {
    publisher_ = std::make_unique<NodePublisher>(
        options,
        [this](kube::ApiDeadlines, std::stop_token stop) {
          kube::ApiOptions made;
          made.server = "http://fake";
          made.retry_deadline = std::chrono::milliseconds(0);
          made.stop = std::move(stop);
          return std::make_unique<kube::Api>(std::move(made), client_, credentials_, clock_);
        },
        store_, clock_, log_);
  }

  void check(CheckStatus status, Severity severity = Severity::kNone) {
    CheckResult result;
    result.check = "0-nvidia-smi";
    result.status = status;
    result.severity = severity;
    result.started = clock_.wall();
    if (severity != Severity::kNone) {
      Finding finding;
      finding.code = "gpu_missing";
      finding.severity = severity;
      finding.cleared_by = ClearedBy::kCheck;
      result.findings.push_back(finding);
    }
    store_.apply_check(result, false);
  }

  std::string label(const std::string& name) {
    return string_at(member_at(kube_.get(kNode)["metadata"], "labels"), kPrefix + name);
  }
  bool has_taint(const std::string& key) {
    const Json node = kube_.get(kNode);
    for (const Json& taint : member_at(member_at(node, "spec"), "taints")) {
      if (taint["key"] == key) return true;
    }
    return false;
  }
  bool is_tainted() { return has_taint(std::string(kPrefix) + "unhealthy"); }
  Json condition() {
    const Json node = kube_.get(kNode);
    for (const Json& one : member_at(member_at(node, "status"), "conditions")) {
      if (one["type"] == "GPUProblem") return one;
    }
    return nullptr;
  }
  ::testing::AssertionResult settles(const std::string& status, const std::string& condition_is) {
    return wait_until(
        [&] {
          return label("status") == status && string_at(condition(), "status") == condition_is;
        },
        "status " + status + ", GPUProblem " + condition_is);
  }
  std::vector<Json> events(const std::string& type) {
    std::vector<Json> found;
    const Json list = kube_.get(kEvents);
    for (const Json& event : list["items"]) {
      if (event["type"] == type) found.push_back(event);
    }
    return found;
  }
  std::size_t patches() { return kube_.requests("PATCH", kNode).size(); }
  std::optional<NodePublishing> health() { return store_.health().node; }
  // Runs cycle after cycle until the condition holds.
  template <typename Condition>
  ::testing::AssertionResult comes_with_time(const Condition& condition, const std::string& what) {
    return wait_until(
        [&] {
          if (condition()) return true;
          pass_time(seconds(301));
          return false;
        },
        what);
  }
  ::testing::AssertionResult is_repaired() {
    return comes_with_time(
        [&] {
          return label("status") == "fail" && is_tainted() &&
                 string_at(condition(), "status") == "True";
        },
        "label, taint and condition");
  }
  // Advances the clock and makes the thread look.
  void pass_time(std::chrono::milliseconds time) {
    clock_.advance(time);
    store_.touch();
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient client_{kube_};
  NoCredentials credentials_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  Store store_{State{}};
  std::unique_ptr<NodePublisher> publisher_;
};

TEST_F(NodePublisherTest, TellsByAnEventThatAFindingHasComeAndGone) {
  start();
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(wait_until([&] { return events("Warning").size() == 1; }, "an Event"));
  const Json come = events("Warning").front();
  EXPECT_EQ(come["reason"], "GpuMissing");
  EXPECT_EQ(come["involvedObject"]["uid"], kube_.get(kNode)["metadata"]["uid"]);
  EXPECT_THAT(come["message"].get<std::string>(), HasSubstr("REBOOT: 0-nvidia-smi gpu_missing"));

  check(CheckStatus::kPass);
  ASSERT_TRUE(comes_with_time([&] { return events("Normal").size() == 1; }, "another"));
  EXPECT_EQ(events("Normal").front()["reason"], "GpuMissing");
  EXPECT_EQ(events("Warning").size(), 1U);
}

TEST_F(NodePublisherTest, TellsNothingByEventsIfTheyAreOff) {
  start({.writes_events = false});
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(settles("fail", "True"));
  publisher_.reset();
  EXPECT_TRUE(events("Warning").empty());
}

TEST_F(NodePublisherTest, TellsAgainAMinuteLaterWhatTheServerHasRefused) {
  kube_.add_fault({.kind = FaultKind::kForbidden, .method = "POST", .path = kEvents, .times = 1});
  start();
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(settles("fail", "True"));
  EXPECT_TRUE(comes_with_time([&] { return events("Warning").size() == 1; }, "the Event"));
  EXPECT_FALSE(health()->fault) << "Events are best effort";
}

TEST_F(NodePublisherTest, SaysAtOnceThatANodeIsBroken) {
  start();
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(settles("fail", "True"));
  EXPECT_TRUE(is_tainted());
  EXPECT_TRUE(comes_with_time([&] { return health()->is_tainted; }, "the metric"));
  EXPECT_EQ(label("severity"), "REBOOT");
  EXPECT_EQ(condition()["reason"], "GPUsAreDown");
  EXPECT_THAT(string_at(condition(), "message"), HasSubstr("REBOOT: 0-nvidia-smi gpu_missing"));
}

TEST_F(NodePublisherTest, ConditionDoesNotStickAfterRecovery) {
  start();
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(settles("fail", "True"));
  check(CheckStatus::kPass);
  ASSERT_TRUE(settles("pass", "False"));
  EXPECT_FALSE(is_tainted());
  EXPECT_TRUE(comes_with_time([&] { return !health()->is_tainted; }, "the metric"));
  EXPECT_EQ(label("severity"), "PASS");
}

TEST_F(NodePublisherTest, OneChangeIsOnePatchToTheNodeAndOneToItsStatus) {
  check(CheckStatus::kPass);
  start();
  ASSERT_TRUE(settles("pass", "False"));
  ASSERT_TRUE(wait_until([&] { return !health()->fault; }, "success"));
  kube_.clear_requests();
  check(CheckStatus::kFail, Severity::kIsolate);
  ASSERT_TRUE(settles("fail", "True"));
  // The fake logs a request once it is done.
  ASSERT_TRUE(wait_until([&] { return patches() >= 2; }, "two patches written down"));
  EXPECT_EQ(kube_.requests("PATCH", kStatus).size(), 1U);
  EXPECT_EQ(patches(), 2U);
}

TEST_F(NodePublisherTest, WritesNothingIfNothingDiffers) {
  check(CheckStatus::kPass);
  start();
  ASSERT_TRUE(settles("pass", "False"));
  kube_.clear_requests();
  const auto looks = [&] { return kube_.requests("GET", kNode).size(); };
  ASSERT_TRUE(comes_with_time([&] { return looks() >= 3; }, "three looks"));
  // Only the heartbeat of the condition is written.
  for (const auto& request : kube_.requests()) {
    EXPECT_TRUE(request.method != "PATCH" || request.path == kStatus) << request.path;
  }
}

TEST_F(NodePublisherTest, RepairsWhatSomebodyElseHasTakenAway) {
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(settles("fail", "True"));
  const Json foreign = {{"key", "theirs"}, {"value", "1"}, {"effect", "NoExecute"}};
  kube_.patch(kNode, {{"spec", {{"taints", Json::array({foreign})}}},
                      {"metadata", {{"labels", {{std::string(kPrefix) + "status", nullptr}}}}}});
  kube_.patch_status(kNode, {{"status", {{"conditions", nullptr}}}});
  EXPECT_FALSE(is_tainted());
  ASSERT_TRUE(is_repaired());
  EXPECT_TRUE(has_taint("theirs"));
}

TEST_F(NodePublisherTest, TheHeartBeatsAndTheTransitionStays) {
  check(CheckStatus::kPass);
  start();
  ASSERT_TRUE(settles("pass", "False"));
  const Json before = condition();
  ASSERT_TRUE(comes_with_time(
      [&] { return condition()["lastHeartbeatTime"] != before["lastHeartbeatTime"]; },
      "heartbeat"));
  EXPECT_EQ(condition()["lastTransitionTime"], before["lastTransitionTime"]);
  EXPECT_EQ(NodePublisherOptions().heartbeat, std::chrono::minutes(5));
}

// A node that replaces a broken one has no condition of its own yet.
TEST_F(NodePublisherTest, TheConditionOfANewNodeIsFalseOnceItsGpusAreHealthy) {
  ASSERT_TRUE(condition().is_null());
  start();
  check(CheckStatus::kPass);
  ASSERT_TRUE(settles("pass", "False"));
  EXPECT_EQ(condition()["reason"], "GPUsAreUp");
  EXPECT_FALSE(is_tainted());
}

// A rolling update removed the taints of broken nodes.
TEST_F(NodePublisherTest, StoppingNeverUntaints) {
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(settles("fail", "True"));
  publisher_.reset();
  EXPECT_EQ(label("status"), "agent-stopped");
  EXPECT_EQ(label("severity"), "REBOOT");
  EXPECT_TRUE(is_tainted());
  EXPECT_EQ(condition()["status"], "True");
}

// The remediator takes a node with that label for one with GPUs.
TEST_F(NodePublisherTest, StoppingSaysNothingOnANodeThatHasNoStatus) {
  check(CheckStatus::kSkip);
  start();
  ASSERT_TRUE(wait_until([&] { return health() && !health()->fault; }, "a look"));
  publisher_.reset();
  EXPECT_EQ(label("status"), "");
}

TEST_F(NodePublisherTest, AStartThatKnowsNothingYetTakesNothingAway) {
  kube_.patch(kNode, {{"spec",
                       {{"taints", Json::array({{{"key", std::string(kPrefix) + "unhealthy"},
                                                 {"value", "true"},
                                                 {"effect", "NoSchedule"}}})}}}});
  start();
  ASSERT_TRUE(wait_until([&] { return health() && !health()->fault; }, "a look"));
  EXPECT_TRUE(is_tainted());
  check(CheckStatus::kError);
  ASSERT_TRUE(settles("warn", "Unknown"));
  EXPECT_TRUE(is_tainted());
  check(CheckStatus::kPass);
  ASSERT_TRUE(settles("pass", "False"));
  EXPECT_FALSE(is_tainted());
}

TEST_F(NodePublisherTest, AServerThatIsDownIsTriedAgain) {
  kube_.add_fault({.kind = FaultKind::kUnavailable, .times = 3});
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wait_until([&] { return health()->failures == static_cast<std::uint64_t>(i) + 1; },
                           "failure"));
    EXPECT_TRUE(health()->fault);
    pass_time(seconds(60));
  }
  ASSERT_TRUE(settles("fail", "True"));
  ASSERT_TRUE(wait_until([&] { return !health()->fault; }, "health"));
  EXPECT_EQ(health()->failures, 3U);
}

TEST_F(NodePublisherTest, AnAnswerThatWasLostIsNoSecondChange) {
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PATCH", .times = 1});
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(wait_until([&] { return health()->failures == 1; }, "failure"));
  pass_time(seconds(2));
  ASSERT_TRUE(settles("fail", "True"));
  EXPECT_EQ(kube_.get(kNode)["spec"]["taints"].size(), 1U);
}

TEST_F(NodePublisherTest, TheConditionIsWrittenEvenIfTheNodesKeysAreRefused) {
  kube_.add_fault({.kind = FaultKind::kForbidden, .method = "PATCH", .path = kNode, .times = -1});
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(
      wait_until([&] { return string_at(condition(), "status") == "True"; }, "the condition"));
  ASSERT_TRUE(wait_until([&] { return health()->failures == 1; }, "failure"));
  EXPECT_THAT(*health()->fault, HasSubstr("forbidden"));

  kube_.clear_faults();
  EXPECT_TRUE(is_repaired()) << "it goes on";
}

// A deleted node that the same machine registers again is the exporter's own. Another machine's
// node is not, even with the same name.
TEST_F(NodePublisherTest, GhostANodeOfAnotherMachineIsNotTouched) {
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(settles("fail", "True"));
  kube_.remove(kNode);
  Json other = fakes::ready_node("gpu-01");
  other["status"]["nodeInfo"]["bootID"] = "boot-of-another-machine";
  kube_.create(kNodes, other);
  ASSERT_TRUE(comes_with_time([&] { return health()->failures > 0; }, "failure"));
  EXPECT_FALSE(is_tainted());
  publisher_.reset();
  EXPECT_EQ(label("status"), "");
}

TEST_F(NodePublisherTest, ANodeThatTheSameMachineHasRegisteredAnewIsWrittenTo) {
  check(CheckStatus::kFail, Severity::kReboot);
  start();
  ASSERT_TRUE(settles("fail", "True"));
  kube_.remove(kNode);
  kube_.create(kNodes, fakes::ready_node("gpu-01"));
  EXPECT_TRUE(is_repaired());
}

TEST_F(NodePublisherTest, NewSettingsAreFollowedWithoutARestart) {
  start({.writes_taint = false});
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(settles("fail", "True"));
  EXPECT_FALSE(is_tainted());
  publisher_->configure({}, seconds(300));
  EXPECT_TRUE(wait_until([&] { return is_tainted(); }, "taint"));
}

TEST_F(NodePublisherTest, ANewPresetIsFollowedWithoutARestart) {
  const auto suites_label = [this] {
    return string_at(member_at(kube_.get(kNode)["metadata"], "labels"),
                     kAwsSamplesNames(NodeName::kStatus));
  };
  start({.preset = NodePreset::kAwsSamples});
  check(CheckStatus::kFail, Severity::kReboot);
  ASSERT_TRUE(wait_until([&] { return suites_label() == "fail"; }, "the label"));
  publisher_->configure({}, seconds(300));
  ASSERT_TRUE(settles("fail", "True"));
  EXPECT_EQ(suites_label(), "");
  publisher_.reset();
  EXPECT_EQ(label("status"), "agent-stopped");
  EXPECT_EQ(suites_label(), "");
}

TEST_F(NodePublisherTest, ReadsTheInstanceTypeOffTheNode) {
  kube::ApiOptions options;
  options.server = "http://fake";
  kube::Api api(options, client_, credentials_, clock_);
  EXPECT_EQ(instance_type_label(api, "gpu-01").error().kind, ErrorKind::kNotFound);
  kube_.patch(kNode,
              {{"metadata", {{"labels", {{"node.kubernetes.io/instance-type", "p5.48xlarge"}}}}}});
  EXPECT_EQ(instance_type_label(api, "gpu-01").value(), "p5.48xlarge");
}

// The exporter reads the Node anyway, so this needs no extra request.
TEST_F(NodePublisherTest, LearnsHowManyGpusTheLabelsSayThereAre) {
  store_.enter_machine({"4c4c4544", "PowerEdge R760xa"});
  Json node = fakes::ready_node("gpu-02");
  node["metadata"]["labels"]["nvidia.com/gpu.count"] = "8";
  kube_.create(kNodes, node);
  NodePublisherOptions options;
  options.node = "gpu-02";
  start_with(options);
  EXPECT_TRUE(
      wait_until([&] { return store_.state().machine.labelled == GpuCounts{{Vendor::kNvidia, 8}}; },
                 "the count of the label"));
}

}  // namespace
}  // namespace gpuward::exporter
