// The wait for a replacement: which node counts, and for which Remediation.
#include "remediator/act/actions/replacement_wait.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "remediator/act/actions/step_progress.h"
#include "tests/unit/remediator/act/actions/intended_step.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kEndIntended = WallTime(std::chrono::hours(500'000)) + milliseconds(700);

class NamedReports final : public HealthReports {
 public:
  Result<HealthReport> latest(std::string_view node) override {
    asked.emplace_back(node);
    const auto found = of.find(std::string(node));
    if (found == of.end()) return fail(ErrorKind::kNotFound, "nothing known");
    return found->second;
  }
  std::map<std::string, HealthReport> of;
  std::vector<std::string> asked;
};

class ScriptedReplacements final : public Replacements {
 public:
  std::vector<Newcomer> newcomers(const std::string&, WallTime since) const override {
    asked_since = since;
    return nodes;
  }
  Result<std::vector<ReplacementClaim>> claims_on(const std::string& uid,
                                                  const std::string&) override {
    asked_uids.push_back(uid);
    return claims;
  }
  std::vector<Newcomer> nodes;
  Result<std::vector<ReplacementClaim>> claims;
  mutable WallTime asked_since;
  std::vector<std::string> asked_uids;
};

kube::Node a_gpu_node(const std::string& name) {
  kube::Node node;
  node.meta.name = name;
  node.meta.uid = "uid-" + name;
  node.meta.labels = {{"karpenter.sh/nodepool", "gpu"},
                      {"node.kubernetes.io/instance-type", "p5.48xlarge"}};
  node.provider_id = "aws:///a/i-" + name;
  node.boot_id = "boot-" + name;
  node.resources = {"cpu", "nvidia.com/gpu"};
  node.conditions = {{.type = "Ready", .status = "True", .reason = {}, .message = {}}};
  return node;
}

class ReplacementWaitTest : public ::testing::Test {
 protected:
  ReplacementWaitTest() {
    remediation.name = "gpu-01-ab-1";
    remediation.node = "gpu-01";
    Facts lost = to_facts(kind_of(a_gpu_node("gpu-01"), {}));
    lost[kInstanceFact] = "aws:///a/i-gpu-01";
    StepRecord end = intended_step(Step::kTerminate, Severity::kIsolate, kEndIntended, lost);
    end.result = StepResult::kDone;
    remediation.status.steps = {end};
  }
  void joins(kube::Node node, bool is_bad = false, std::vector<ReplacementClaim> claims = {}) {
    reports.of[node.meta.name] = {
        .measured_at = now, .boot_id = node.boot_id, .sees_kernel_log = true};
    replacements.nodes.push_back({.node = std::make_shared<const kube::Node>(std::move(node)),
                                  .is_bad = is_bad,
                                  .claims = std::move(claims)});
  }
  // Looks with the facts that the last look returned.
  StepProgress look(milliseconds later = milliseconds(0)) {
    now += later;
    for (auto& [name, report] : reports.of) report.measured_at = now;
    auto progress = *wait.watch({.remediation = remediation,
                                 .node = old_node,
                                 .step = step,
                                 .facts = facts,
                                 .permit = [] { return Status(); },
                                 .now = now,
                                 .ran = std::chrono::floor<milliseconds>(now - kEndIntended)});
    facts = progress.facts;
    return progress;
  }
  std::string counted() { return facts.contains(kReplacementFact) ? facts[kReplacementFact] : ""; }

  WallTime now = kEndIntended + minutes(5);
  kube::Node old_node;
  Remediation remediation;
  PlannedStep step = planned(Step::kVerify);
  Facts facts;
  NamedReports reports;
  ScriptedReplacements replacements;
  CurrentPolicy policy{Policy{}};
  ReplacementWait wait{&reports, policy, replacements};
};

TEST_F(ReplacementWaitTest, IsDoneWhenAnotherNodeHasLookedWellForTheSoak) {
  EXPECT_EQ(look().message, "waiting for a replacement in pool gpu");
  joins(a_gpu_node("gpu-07"));

  auto progress = look(minutes(1));
  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_THAT(progress.message, HasSubstr("node gpu-07 has joined"));
  EXPECT_EQ(progress.facts.at(kReplacementUidFact), "uid-gpu-07");
  EXPECT_EQ(look(minutes(9)).result, StepResult::kRunning);
  progress = look(minutes(1));

  EXPECT_EQ(progress.result, StepResult::kDone);
  EXPECT_EQ(progress.message, "replaced by node gpu-07");
  EXPECT_THAT(replacements.asked_uids, ElementsAre("uid-gpu-07"));
}

// The API server's times have whole seconds.
TEST_F(ReplacementWaitTest, CountsFromTheSecondInWhichTheEndWasIntended) {
  (void)look();

  EXPECT_EQ(replacements.asked_since, kEndIntended - milliseconds(700));
}

// An autoscaler makes the node for the pods that the drain evicted, long before an approval.
TEST_F(ReplacementWaitTest, CountsFromTheDrainIfThereWasOne) {
  remediation.status.steps.push_back(
      intended_step(Step::kDrain, Severity::kIsolate, kEndIntended - minutes(40), {}));

  (void)look();

  EXPECT_EQ(replacements.asked_since, kEndIntended - minutes(40) - milliseconds(700));
}

// The claim reaches the API server only before the next look.
TEST_F(ReplacementWaitTest, IsNotDoneAtTheFirstLookEvenWithoutASoak) {
  step.soak = milliseconds(0);
  joins(a_gpu_node("gpu-07"));

  const auto first = look();
  EXPECT_EQ(first.result, StepResult::kRunning);
  EXPECT_LE(*first.look_again, seconds(1));
  EXPECT_EQ(look(seconds(1)).result, StepResult::kDone);
}

struct NoReplacement {
  const char* name;
  void (*spoil)(kube::Node& node, bool& is_bad);
  const char* why;
};

class Unfit : public ReplacementWaitTest, public ::testing::WithParamInterface<NoReplacement> {};

TEST_P(Unfit, DoesNotCount) {
  kube::Node node = a_gpu_node("gpu-07");
  bool is_bad = false;
  GetParam().spoil(node, is_bad);
  joins(node, is_bad);

  const auto progress = look();

  EXPECT_EQ(counted(), "");
  EXPECT_THAT(progress.message, HasSubstr(GetParam().why));
  EXPECT_EQ(progress.result, StepResult::kRunning);
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, Unfit,
    ::testing::Values(
        NoReplacement{"Cordoned", [](kube::Node& n, bool&) { n.unschedulable = true; },
                      "it is cordoned"},
        NoReplacement{"Deleted", [](kube::Node& n, bool&) { n.meta.deleting = true; },
                      "it is being deleted"},
        NoReplacement{"NotReady", [](kube::Node& n, bool&) { n.conditions[0].status = "Unknown"; },
                      "it is not Ready"},
        NoReplacement{"Bad", [](kube::Node&, bool& is_bad) { is_bad = true; },
                      "it has a remediation of its own"},
        NoReplacement{"OfAnotherType",
                      [](kube::Node& n, bool&) {
                        n.meta.labels["node.kubernetes.io/instance-type"] = "g5.xlarge";
                      },
                      "it is of type g5.xlarge, not p5.48xlarge"},
        NoReplacement{"WithoutGpus", [](kube::Node& n, bool&) { n.resources = {"cpu"}; },
                      "it has no nvidia.com/gpu"},
        NoReplacement{"OnTheInstanceThatWasToEnd",
                      [](kube::Node& n, bool&) { n.provider_id = "aws:///a/i-gpu-01"; },
                      "it is the instance that was to be terminated"}),
    [](const auto& node) { return std::string(node.param.name); });

TEST_F(ReplacementWaitTest, SaysNothingOfNodesOfOtherPools) {
  kube::Node other = a_gpu_node("cpu-07");
  other.meta.labels["karpenter.sh/nodepool"] = "cpu";
  joins(other);

  EXPECT_EQ(look().message, "waiting for a replacement in pool gpu");
  EXPECT_TRUE(reports.asked.empty());
}

TEST_F(ReplacementWaitTest, TakesANodeOfAnyPoolIfTheOldOneIsNotKnown) {
  remediation.status.steps[0].facts = {{kInstanceFact, "aws:///a/i-gpu-01"}};
  kube::Node other = a_gpu_node("any-07");
  other.meta.labels.clear();
  joins(other);

  (void)look();

  EXPECT_EQ(counted(), "any-07");
}

TEST_F(ReplacementWaitTest, CountsOnlyANodeWhoseExporterSaysThatNothingIsWrong) {
  joins(a_gpu_node("gpu-07"));
  reports.of["gpu-07"].severity = Severity::kMonitor;
  EXPECT_THAT(look().message, HasSubstr("the report has severity monitor"));
  reports.of["gpu-07"].severity = Severity::kReboot;
  EXPECT_THAT(look().message, HasSubstr("the report still has severity reboot"));
  reports.of["gpu-07"].severity = Severity::kNone;
  reports.of["gpu-07"].boot_id = "boot-before";
  EXPECT_THAT(look().message, HasSubstr("another boot"));
  reports.of.clear();
  EXPECT_THAT(look().message, HasSubstr("nothing known"));
  EXPECT_EQ(counted(), "");
}

TEST_F(ReplacementWaitTest, SaysThatThereIsNobodyToAsk) {
  joins(a_gpu_node("gpu-07"));
  ReplacementWait blind(nullptr, policy, replacements);

  const auto progress = blind.watch({.remediation = remediation,
                                     .node = old_node,
                                     .step = step,
                                     .facts = {},
                                     .permit = [] { return Status(); },
                                     .now = now});

  EXPECT_THAT(progress->message, HasSubstr("--prometheus.url"));
}

TEST_F(ReplacementWaitTest, BeginsAnewWithAnotherNodeIfTheFirstOneTurnsBad) {
  joins(a_gpu_node("gpu-07"));
  (void)look();
  joins(a_gpu_node("gpu-08"));
  (void)look(minutes(8));
  ASSERT_EQ(counted(), "gpu-07");
  replacements.nodes[0].is_bad = true;

  EXPECT_EQ(look(minutes(1)).result, StepResult::kRunning);

  EXPECT_EQ(counted(), "gpu-08");
  EXPECT_EQ(look(minutes(9)).result, StepResult::kRunning);
  EXPECT_EQ(look(minutes(1)).result, StepResult::kDone);
}

TEST_F(ReplacementWaitTest, ForgetsANodeThatHasGoneAgain) {
  joins(a_gpu_node("gpu-07"));
  (void)look();
  replacements.nodes.clear();

  const auto progress = look(minutes(10));

  EXPECT_EQ(progress.result, StepResult::kRunning);
  EXPECT_TRUE(progress.facts.empty());
}

TEST_F(ReplacementWaitTest, LeavesANodeThatCountsForAnother) {
  joins(a_gpu_node("gpu-07"), false, {{.remediation = "gpu-99-ab-1", .node_uid = "uid-gpu-07"}});

  EXPECT_THAT(look().message, HasSubstr("it already counts as the replacement for gpu-99-ab-1"));
  EXPECT_EQ(counted(), "");
  joins(a_gpu_node("gpu-08"));
  (void)look();
  EXPECT_EQ(counted(), "gpu-08");
}

// Two Remediations began to count the node at the same moment, each unaware of the other.
TEST_F(ReplacementWaitTest, OfTwoThatCountTheSameNodeOneStays) {
  joins(a_gpu_node("gpu-07"));
  (void)look();
  replacements.nodes[0].claims = {{.remediation = "gpu-02-ab-1", .node_uid = "uid-gpu-07"}};
  EXPECT_EQ(look(minutes(1)).result, StepResult::kRunning);
  EXPECT_EQ(counted(), "gpu-07") << "the other one yields";
  replacements.nodes[0].claims[0].is_final = true;
  (void)look(minutes(1));
  EXPECT_EQ(counted(), "") << "it was quicker";
  replacements.nodes[0].claims = {{.remediation = "gpu-00-ab-1", .node_uid = "uid-gpu-07"}};
  (void)look(minutes(1));
  EXPECT_EQ(counted(), "");
}

// The caches may be out of date.
TEST_F(ReplacementWaitTest, IsNeverDoneWithANodeThatCountsForAnotherByThen) {
  joins(a_gpu_node("gpu-07"));
  (void)look();
  replacements.claims = {{{.remediation = "gpu-99-ab-1", .node_uid = "uid-gpu-07"}}};

  const auto contested = look(minutes(10));
  EXPECT_EQ(contested.result, StepResult::kRunning);
  EXPECT_THAT(contested.message, HasSubstr("it is also claimed by gpu-99-ab-1"));
  replacements.claims = fail(ErrorKind::kTimeout, "no answer after 21 ms");
  const auto unknown = look(minutes(1));
  EXPECT_EQ(unknown.result, StepResult::kRunning);
  EXPECT_THAT(unknown.message, Not(HasSubstr("21 ms"))) << "a reason stays the same";
  replacements.claims = {};
  EXPECT_EQ(look(minutes(1)).result, StepResult::kDone);
}

TEST_F(ReplacementWaitTest, FindsTheFreeOneAmongManyThatAreTaken) {
  for (int i = 0; i < 40; ++i)
    joins(a_gpu_node("gpu-" + std::to_string(100 + i)), false, {{"other", "uid", true}});
  joins(a_gpu_node("gpu-999"));

  (void)look();

  EXPECT_EQ(counted(), "gpu-999");
}

TEST_F(ReplacementWaitTest, LooksAtAFewNodesAtATime) {
  for (int i = 0; i < 100; ++i) {
    joins(a_gpu_node("gpu-" + std::to_string(100 + i)));
    reports.of["gpu-" + std::to_string(100 + i)].severity = Severity::kReset;
  }

  (void)look();

  EXPECT_EQ(reports.asked.size(), 16U);
}

TEST(MachineKind, IsTheSameInTheFactsOfAStep) {
  const MachineKind kind{
      .pool = "gpu", .instance_type = "p5", .gpus = {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb"}};

  EXPECT_EQ(kind_in(to_facts(kind)), kind);
  EXPECT_EQ(kind_in({}), MachineKind());
}

TEST(MachineKind, NamesAFewGpuResourcesAtMost) {
  kube::Node node = a_gpu_node("gpu-01");
  for (int i = 0; i < 20; ++i) node.resources.push_back("nvidia.com/mig-" + std::to_string(i));

  EXPECT_EQ(kind_of(node, {}).gpus.size(), 8U);
}

TEST(ReplacementClaims, AreThoseOfWaitsThatGoOnOrAreOver) {
  Remediation one;
  one.name = "a";
  one.status.phase = Phase::kVerifying;
  one.status.steps = {intended_step(Step::kVerify, Severity::kIsolate, kEndIntended,
                                    {{kReplacementUidFact, "uid-7"}})};
  one.status.steps[0].result = StepResult::kRunning;
  EXPECT_EQ(claim_of(one), (ReplacementClaim{"a", "uid-7", false}));

  one.status.phase = Phase::kCancelled;
  EXPECT_FALSE(claim_of(one));
  one.status.steps[0].result = StepResult::kDone;
  EXPECT_EQ(claim_of(one), (ReplacementClaim{"a", "uid-7", true}));
  one.status.phase = Phase::kHeld;
  one.status.steps[0].result = StepResult::kFailed;
  EXPECT_FALSE(claim_of(one)) << "it has given up";
}

}  // namespace
}  // namespace gpuward::remediator
