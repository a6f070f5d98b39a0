// The current code on the state that the earlier version left, and beside a replica of it: it
// continues from there, and neither repeats nor loses anything. `written_before` plays a replica of
// the earlier version that writes each object last.
#include <string>
#include <vector>

#include "remediator/decide/budgets/ledger_text.h"
#include "remediator/decide/guards/approval.h"
#include "tests/unit/remediator/act/cluster_fixture.h"
#include "tests/unit/remediator/upgrade/version_before.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::IsEmpty;

const std::vector<std::string> kAll = {"opened",
                                       "quarantine-intended",
                                       "quarantined",
                                       "waits-for-approval",
                                       "drain-intended",
                                       "draining",
                                       "draining-after-approval",
                                       "reboot-intended",
                                       "rebooting",
                                       "escalated",
                                       "testing",
                                       "terminate-intended",
                                       "terminating",
                                       "terminated",
                                       "held",
                                       "paused-while-rebooting",
                                       "release-intended",
                                       "released",
                                       "cancelled-while-rebooting"};

// Compares times with any number of digits.
bool is_same_time(const Json& one, const Json& other) {
  if (!one.is_string() || !other.is_string()) return false;
  const auto time = parse_rfc3339(one.get<std::string>());
  return time && time == parse_rfc3339(other.get<std::string>());
}

// Adds each value of `before` that `now` lacks or changes.
void add_lost(const Json& before, const Json& now, const std::string& path,
              std::vector<std::string>& lost) {
  if (before.is_object() && now.is_object()) {
    for (const auto& [key, value] : before.items())
      add_lost(value, member_at(now, key), path + "." + key, lost);
  } else if (before.is_array() && now.is_array() && before.size() == now.size()) {
    for (std::size_t i = 0; i < before.size(); ++i)
      add_lost(before[i], now[i], path + "[" + std::to_string(i) + "]", lost);
  } else if (before != now && !is_same_time(before, now)) {
    lost.push_back(path + " was " + before.dump() + " and is " + now.dump());
  }
}

std::vector<std::string> lost_between(const Json& before, const Json& now) {
  std::vector<std::string> lost;
  add_lost(before, now, "", lost);
  return lost;
}

class LeftBehind : public ::testing::TestWithParam<std::string> {};

TEST_P(LeftBehind, IsReadWhole) {
  const Json all = left_behind(GetParam());
  const auto read = read_remediation(all.at("remediation"));
  ASSERT_TRUE(read);

  const Json status = (*parse_json(status_write(*read).body)).at("status");
  const Json spec = (*parse_json(create_body(*read))).at("spec");

  Json before = all.at("remediation").value("status", Json::object());
  if (before.contains("rule")) before["rule"] = current_rule(before["rule"].get<std::string>());
  EXPECT_THAT(lost_between(before, status), IsEmpty());
  EXPECT_THAT(lost_between(all.at("remediation").at("spec"), spec), IsEmpty());
  Json written = all.at("remediation");
  written["status"] = status;
  written["spec"] = spec;
  EXPECT_THAT(fakes::validate(as_written_before(written), schema_before(), ""), IsEmpty());
}

TEST_P(LeftBehind, HasALedgerThatIsReadAndLeftAsItIs) {
  const std::string text = left_behind(GetParam()).value("ledger", "");
  if (text.empty()) return;

  const auto ledger = decode_ledger(text);

  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(encode_ledger(*ledger).value(), text);
}

INSTANTIATE_TEST_SUITE_P(Upgrade, LeftBehind, ::testing::ValuesIn(kAll), [](const auto& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
});

TEST(RenamedRules, AreReadUnderTheirPresentName) {
  const Json all = left_behind("paused-while-rebooting");
  ASSERT_EQ(all.at("remediation").at("status").at("rule"), "guard.human");

  const auto read = read_remediation(all.at("remediation"));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->status.rule, "guard.manual-change");
  EXPECT_EQ(current_rule("guard.marks"), kOwnershipRule);
  EXPECT_EQ(current_rule("guard.pause"), "guard.pause");
}

// An operator may have the token on the screen while the remediator is replaced.
TEST(ApprovalLeftBehind, IsGoodForTheSameStep) {
  const Json all = left_behind("waits-for-approval");
  Remediation remediation = *read_remediation(all.at("remediation"));
  const auto node = kube::decode_node(all.at("node"));
  const ApprovalRecord asked = *remediation.status.approval;
  remediation.wish.approved_token = asked.token;
  remediation.wish.approved_by = "alice";

  const auto answer = approval_of(remediation, *node, asked.step, asked.requested_at + minutes(1));

  EXPECT_TRUE(answer.is_given);
  EXPECT_EQ(answer.record.token, asked.token);
}

class GoingOn : public ClusterTest {
 protected:
  GoingOn() {
    kube_.remove("/api/v1/nodes/gpu-01");
    Policy policy;
    policy.mode = Mode::kFull;
    policy.return_to_service.enabled = true;
    for (const auto& [severity, impact] :
         {std::pair(Severity::kReset, Step::kReboot), std::pair(Severity::kReboot, Step::kReboot),
          std::pair(Severity::kIsolate, Step::kTerminate)}) {
      policy.steps[severity].clear();
      for (const Step step : {Step::kTaint, Step::kCordon, Step::kDrain, impact, Step::kVerify})
        policy.steps[severity].push_back(planned(step));
      if (impact == Step::kReboot) policy.steps[severity].push_back(planned(Step::kReturn));
    }
    policy_.set(policy);
  }

  // Restores the cluster of the recorded state, except for fields that the API server sets itself.
  void leave_behind(const std::string& name) {
    Json all = left_behind(name);
    clock_.advance(*parse_rfc3339(string_at(all, "at")) - clock_.wall());
    node_name_ = string_at(member_at(all.at("remediation"), "spec"), "nodeName");
    create_node(all.at("node"), all.at("remediation"));
    Json& object = all["remediation"];
    for (const char* given : {"uid", "resourceVersion", "creationTimestamp", "generation"})
      object["metadata"].erase(given);
    path_ = remediation_collection() + "/" + string_at(object["metadata"], "name");
    (void)kube_.create(remediation_collection(), object);
    if (object.contains("status")) (void)kube_.patch_status(path_, {{"status", object["status"]}});
    kube_.backdate(path_, minutes(5));
    restart();
    kube_.clear_requests();
  }

  void expect_nothing_begun() {
    for (const auto& [step, script] : steps_) EXPECT_EQ(script.begun, 0) << to_string(step);
  }

  // A replica of the earlier version has written spec and status since.
  void written_before() {
    for (const Remediation& seen : remediations()) {
      const std::string path = remediation_collection() + "/" + seen.name;
      const Json object = kube_.get(path);
      const Json old = as_written_before(object);
      if (old.at("spec").contains("alerts"))
        (void)kube_.patch(path, {{"spec", {{"alerts", old["spec"]["alerts"]}}}});
      Json next = kube_.get(path);
      next["status"] = old.value("status", Json::object());
      ASSERT_TRUE(api_.update_custom_status(remediation_type(), seen.name, dump_json(next)));
    }
    restart();
  }
  bool reconcile_it() { return reconcile(10, node_name_); }

  std::string node_name_ = "gpu-01", path_;

 private:
  void create_node(Json node, Json& remediation) {
    const std::string uid = string_at(node["metadata"], "uid");
    for (const char* given : {"uid", "resourceVersion", "creationTimestamp"})
      node["metadata"].erase(given);
    const std::string made = string_at(kube_.create("/api/v1/nodes", node).at("metadata"), "uid");
    kube_.backdate("/api/v1/nodes/" + node_name_, minutes(60));
    if (remediation["spec"]["nodeUID"] == uid) remediation["spec"]["nodeUID"] = made;
  }
};

struct Standing {
  std::string name;
  Step step = Step::kDrain;
};

std::string name_of(const ::testing::TestParamInfo<Standing>& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
}

class UnderWay : public GoingOn, public ::testing::WithParamInterface<Standing> {};

TEST_P(UnderWay, IsWatchedAndNeverBegunAnew) {
  leave_behind(GetParam().name);
  const Json steps = left_behind(GetParam().name).at("remediation").at("status").at("steps");

  ASSERT_TRUE(reconcile_it());

  expect_nothing_begun();
  EXPECT_EQ(steps_[GetParam().step].watched, 1);
  const Json facts = steps.back().value("facts", Json::object());
  EXPECT_THAT(lost_between(facts, Json(steps_[GetParam().step].facts)), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Upgrade, UnderWay,
                         ::testing::Values(Standing{"draining", Step::kDrain},
                                           Standing{"draining-after-approval", Step::kDrain},
                                           Standing{"rebooting", Step::kReboot},
                                           Standing{"terminating", Step::kTerminate},
                                           Standing{"testing", Step::kNcclPairs}),
                         name_of);

// The call may or may not have been made: the step itself has to find out.
class Intended : public GoingOn, public ::testing::WithParamInterface<Standing> {};

TEST_P(Intended, GoesOnWithThatStepAndNoOther) {
  leave_behind(GetParam().name);

  ASSERT_TRUE(reconcile_it());

  const ScriptedStep& script = steps_[GetParam().step];
  EXPECT_EQ(script.watched + script.begun, 1);
  for (const auto& [step, other] : steps_) {
    const bool is_that = step == GetParam().step;
    EXPECT_TRUE(is_that || other.begun == 0) << to_string(step);
  }
}

INSTANTIATE_TEST_SUITE_P(Upgrade, Intended,
                         ::testing::Values(Standing{"drain-intended", Step::kDrain},
                                           Standing{"reboot-intended", Step::kReboot},
                                           Standing{"terminate-intended", Step::kTerminate}),
                         name_of);

class AtRest : public GoingOn, public ::testing::WithParamInterface<Standing> {};

TEST_P(AtRest, IsLeftAsItIs) {
  Policy as_there = *policy_.get();
  as_there.steps[Severity::kIsolate] = {planned(Step::kTaint), planned(Step::kCordon),
                                        planned(Step::kDrain)};
  policy_.set(as_there);
  leave_behind(GetParam().name);
  const Json before = kube_.get("/api/v1/nodes/" + node_name_);

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reconcile_it());

  expect_nothing_begun();
  EXPECT_EQ(node_writes(), 0U);
  EXPECT_EQ(remediation().status.phase,
            read_remediation(left_behind(GetParam().name).at("remediation"))->status.phase);
}

INSTANTIATE_TEST_SUITE_P(Upgrade, AtRest,
                         ::testing::Values(Standing{"held"}, Standing{"paused-while-rebooting"},
                                           Standing{"released"},
                                           Standing{"cancelled-while-rebooting"}),
                         name_of);

TEST_F(GoingOn, PutsTaintAndCordonOnTheNodeThatTheyWereIntendedFor) {
  leave_behind("quarantine-intended");

  ASSERT_TRUE(reconcile_it());

  EXPECT_EQ(our_taint_on(node(node_name_)), "isolate");
  EXPECT_TRUE(node(node_name_).unschedulable);
  EXPECT_TRUE(remediation().status.has_done(Step::kCordon));
  expect_nothing_begun();
}

TEST_F(GoingOn, TakesOffWhatWasToComeOff) {
  leave_behind("release-intended");

  ASSERT_TRUE(reconcile_it());

  EXPECT_FALSE(our_taint_on(node(node_name_)));
  EXPECT_FALSE(node(node_name_).unschedulable);
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  expect_nothing_begun();
}

TEST_F(GoingOn, RepeatsNoStepThatFailedBeforeTheEscalation) {
  leave_behind("escalated");

  for (int i = 0; i < 5; ++i) ASSERT_TRUE(reconcile_it());

  EXPECT_EQ(steps_[Step::kReboot].begun, 0);
}

// The earlier version always writes each object last, and drops fields that it does not know.
TEST_F(GoingOn, BesideAReplicaOfTheVersionBeforeRepeatsAndLosesNothing) {
  add_node("gpu-01");
  kube_.backdate("/api/v1/nodes/gpu-01", minutes(60));
  reports_.answer = report_of(Severity::kReboot);
  ASSERT_TRUE(take({signal()}));
  const auto look = [&] {
    ASSERT_TRUE(reconcile_it());
    written_before();
  };
  const auto finish = [&](Step step) {
    steps_[step].progress =
        StepProgress{.result = StepResult::kDone, .message = "done", .facts = {}, .look_again = {}};
    look();
  };
  for (int i = 0; i < 3; ++i) look();
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  finish(Step::kDrain);
  for (int i = 0; i < 3; ++i) look();
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  finish(Step::kReboot);
  ASSERT_TRUE(take({signal(Severity::kReboot, false)}));
  written_before();
  clock_.advance(minutes(1));
  reports_.answer = report_of(Severity::kNone);
  for (int i = 0; i < 2; ++i) look();
  finish(Step::kVerify);
  for (int i = 0; i < 2; ++i) look();

  EXPECT_EQ(remediation().status.phase, Phase::kReleased);
  EXPECT_FALSE(our_taint_on(node()));
  EXPECT_FALSE(node().unschedulable);
  EXPECT_EQ(steps_[Step::kDrain].begun, 1);
  EXPECT_EQ(steps_[Step::kReboot].begun, 1);
  EXPECT_EQ(steps_[Step::kVerify].begun, 1);
}

}  // namespace
}  // namespace gpuward::remediator
