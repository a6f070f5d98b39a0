#include "exporter/commands/quarantine.h"

#include "exporter/commands/quarantine_command.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/store/clear_request.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/exporter/commands/sweep_cluster.h"

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CheckResult result(int number, CheckStatus status, Severity severity = Severity::kNone) {
  CheckResult made;
  made.check = number == 4 ? "4-dcgm-diag-l4" : number == 5 ? "5-nccl-allreduce" : "6-efa-loopback";
  made.status = status;
  made.severity = severity;
  return made;
}

// The replaced suite recommended "investigate" even for a node that had passed.
TEST(QuarantineResult, ANodeThatPassesGoesBackIntoService) {
  for (const CheckStatus efa : {CheckStatus::kPass, CheckStatus::kSkip}) {
    const auto verdict = judge_quarantine({result(4, CheckStatus::kPass), result(6, efa)});
    EXPECT_EQ(verdict.status, NodeStatus::kPass);
    EXPECT_EQ(verdict.severity, Severity::kNone);
    EXPECT_EQ(verdict.recommendation, "return-to-service");
    EXPECT_THAT(verdict.next, HasSubstr("uncordon"));
  }
}

TEST(QuarantineResult, OnlyIsolateIsReplaced) {
  const auto isolate = judge_quarantine(
      {result(4, CheckStatus::kFail, Severity::kIsolate), result(6, CheckStatus::kPass)});
  EXPECT_EQ(isolate.status, NodeStatus::kFail);
  EXPECT_EQ(isolate.recommendation, "replace");
  for (const Severity severity : {Severity::kReset, Severity::kReboot}) {
    const auto other =
        judge_quarantine({result(4, CheckStatus::kPass), result(6, CheckStatus::kFail, severity)});
    EXPECT_EQ(other.status, NodeStatus::kFail);
    EXPECT_EQ(other.severity, severity);
    EXPECT_EQ(other.recommendation, "investigate");
    EXPECT_THAT(other.next, HasSubstr("replace it if it fails again"));
  }
}

TEST(QuarantineResult, WhatDidNotRunHasNotPassed) {
  for (const CheckStatus dcgm : {CheckStatus::kSkip, CheckStatus::kError, CheckStatus::kWarn}) {
    const auto verdict = judge_quarantine({result(4, dcgm), result(6, CheckStatus::kPass)});
    EXPECT_EQ(verdict.status, NodeStatus::kWarn);
    EXPECT_EQ(verdict.severity, Severity::kMonitor);
    EXPECT_EQ(verdict.recommendation, "investigate");
  }
  EXPECT_EQ(judge_quarantine({}).recommendation, "investigate");
  EXPECT_EQ(judge_quarantine({result(4, CheckStatus::kPass), result(6, CheckStatus::kError)})
                .recommendation,
            "investigate");
}

// Operators read it beside the annotation `results`, which uses the same words.
TEST(QuarantineResult, SaysErrorOfACheckThatCouldNotTellAndNoPass) {
  const std::vector results = {result(4, CheckStatus::kError), result(6, CheckStatus::kPass)};
  const auto written =
      parse_json(quarantine_result(judge_quarantine(results), results, "gpu-01", {}));
  ASSERT_TRUE(written);
  EXPECT_EQ((*written)["status"], "warn");
  EXPECT_EQ((*written)["severity"], "MONITOR");
  EXPECT_EQ((*written)["recommendation"], "investigate");
  EXPECT_EQ((*written)["checks"],
            Json::array({{{"check", "4-dcgm-diag-l4"}, {"status", "ERROR"}, {"severity", ""}},
                         {{"check", "6-efa-loopback"}, {"status", "PASS"}, {"severity", ""}}}));
}

Result<CheckResult> passing(int number, const std::stop_token&) {
  return result(number, CheckStatus::kPass);
}

class QuarantineTest : public SweepTest {
 protected:
  QuarantineTest() {
    add_node("gpu-01");
    patch_node("gpu-01", {{"spec", {{"unschedulable", true}}}});
  }
  [[nodiscard]] QuarantineOptions quarantine_options() const {
    return {.node = "gpu-01",
            .owner = "quarantine 1",
            .state_folder = state_folder_.path(),
            .writes_labels = writes_labels_,
            .checks = checks_,
            .clears_latched = clears_latched_};
  }
  [[nodiscard]] std::vector<ClearRequest> clear_requests() const {
    return ClearRequests(state_folder_.path()).take().requests;
  }
  Result<QuarantineResult> quarantine(const RunCheck& run, const std::stop_token& stop = {}) {
    kube::Api api = process_.make_api();
    return Quarantine(quarantine_options(), api, clock_, process_.log).run(run, stop);
  }
  // Runs a quarantine in which each check takes an hour.
  Result<QuarantineResult> pass_slowly() {
    return quarantine([&](int number, const std::stop_token& stop) {
      clock_.advance(std::chrono::hours(1));
      return passing(number, stop);
    });
  }
  std::vector<int> checks_ = QuarantineWishes().checks;
  bool writes_labels_ = true;
  bool clears_latched_ = false;
  support::TempDir state_folder_;
  SweepProcess process_{kube_, jobs_, clock_};
};

// CONTRACTS A: /mode=quarantine while it runs, quarantine-result with its recommendation.
TEST_F(QuarantineTest, RunsFourAndSixAndSaysSoOnTheNode) {
  std::vector<int> ran;
  const auto verdict = quarantine([&](int number, const std::stop_token&) {
    ran.push_back(number);
    EXPECT_EQ(label("gpu-01", "gpuward.dev/mode"), "quarantine");
    return Result<CheckResult>(result(number, number == 4 ? CheckStatus::kFail : CheckStatus::kPass,
                                      number == 4 ? Severity::kIsolate : Severity::kNone));
  });
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_THAT(ran, ElementsAre(4, 6));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kSeverity)), "ISOLATE");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineClaim)), "");
  const auto written = parse_json(annotation("gpu-01", "gpuward.dev/quarantine-result"));
  ASSERT_TRUE(written);
  EXPECT_EQ((*written)["node"], "gpu-01");
  EXPECT_EQ((*written)["suite"], "quarantine");
  EXPECT_EQ((*written)["status"], "fail");
  EXPECT_EQ((*written)["severity"], "ISOLATE");
  EXPECT_EQ((*written)["recommendation"], "replace");
  EXPECT_TRUE(parse_diagnosis(dump_json(*written), "quarantine"));
  const Json spec = node("gpu-01")["spec"];
  EXPECT_EQ(spec["unschedulable"], true);
  EXPECT_FALSE(spec.contains("taints"));

  writes_labels_ = false;
  ASSERT_TRUE(quarantine(passing));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "fail");
  EXPECT_THAT(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)),
              HasSubstr("return-to-service"));
}

TEST_F(QuarantineTest, APassTakesAwayWhatDiagnosticsClearAndWasNotSeenSince) {
  const auto began = clock_.wall();
  ASSERT_TRUE(pass_slowly());
  const auto requests = clear_requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_FALSE(requests[0].all_operator);
  Finding finding;
  finding.cleared_by = ClearedBy::kDiagnostics;
  finding.last_seen = began;
  EXPECT_TRUE(requests[0].matches(finding));
  finding.last_seen = began + std::chrono::minutes(1);
  EXPECT_FALSE(requests[0].matches(finding)) << "seen while the diagnostic ran";
}

// The recovery of CONTRACTS E: if configured, a pass replaces the operator's confirmation.
TEST_F(QuarantineTest, APassTakesAwayWhatOnlyAnOperatorClearsIfThatIsAskedFor) {
  const auto began = clock_.wall();
  clears_latched_ = true;
  ASSERT_TRUE(pass_slowly());
  const auto requests = clear_requests();
  ASSERT_EQ(requests.size(), 1U);
  Finding finding;
  finding.cleared_by = ClearedBy::kOperator;
  finding.last_seen = began;
  EXPECT_TRUE(requests[0].matches(finding));
  finding.last_seen = began + std::chrono::minutes(1);
  EXPECT_FALSE(requests[0].matches(finding)) << "seen while the diagnostic ran";
  finding.last_seen = began;
  finding.cleared_by = ClearedBy::kGpuReset;
  EXPECT_FALSE(requests[0].matches(finding)) << "no diagnostic resets a GPU";
}

TEST_F(QuarantineTest, RunsTheChecksItIsAskedForAndNcclAloneMayPass) {
  checks_ = {5};
  std::vector<int> ran;
  const auto passed = quarantine([&](int number, const std::stop_token& stop) {
    ran.push_back(number);
    return passing(number, stop);
  });
  ASSERT_TRUE(passed) << passed.error().message;
  EXPECT_THAT(ran, ElementsAre(5));
  EXPECT_EQ(passed->recommendation, "return-to-service");
  EXPECT_THAT(clear_requests(), ::testing::IsEmpty()) << "it acquits of no diagnostic";

  const auto slow = quarantine([](int number, const std::stop_token&) {
    return Result<CheckResult>(result(number, CheckStatus::kWarn, Severity::kMonitor));
  });
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->recommendation, "investigate");
}

TEST_F(QuarantineTest, NcclAloneAcquitsNoNodeThatHasFailedAQuarantine) {
  ASSERT_TRUE(quarantine([](int number, const std::stop_token&) {
    return Result<CheckResult>(result(number, CheckStatus::kFail, Severity::kIsolate));
  }));
  checks_ = {5};
  clears_latched_ = true;

  const auto refused = quarantine(passing);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(refused.error().message, HasSubstr("only check 4"));
  EXPECT_THAT(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)),
              HasSubstr("replace"));
  EXPECT_THAT(clear_requests(), ::testing::IsEmpty());
}

TEST_F(QuarantineTest, NcclAcquitsOfNothingBesideADiagnosticThatWasSkipped) {
  checks_ = {4, 5};
  clears_latched_ = true;

  const auto verdict = quarantine([](int number, const std::stop_token& stop) {
    if (number == 4) return Result<CheckResult>(result(4, CheckStatus::kSkip));
    return passing(number, stop);
  });

  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->recommendation, "investigate");
  EXPECT_THAT(clear_requests(), ::testing::IsEmpty());
}

TEST_F(QuarantineTest, WhatHasNotPassedTakesNothingAway) {
  for (const CheckStatus dcgm : {CheckStatus::kFail, CheckStatus::kWarn, CheckStatus::kSkip}) {
    const auto verdict = quarantine([&](int number, const std::stop_token& stop) {
      return number == 4
                 ? Result<CheckResult>(result(
                       4, dcgm, dcgm == CheckStatus::kFail ? Severity::kReset : Severity::kNone))
                 : passing(number, stop);
    });
    ASSERT_TRUE(verdict);
    EXPECT_THAT(clear_requests(), ::testing::IsEmpty());
  }
}

TEST_F(QuarantineTest, APassStandsIfTheExporterCannotBeTold) {
  std::filesystem::remove(state_folder_.path());
  const auto verdict = quarantine(passing);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->recommendation, "return-to-service");
}

TEST_F(QuarantineTest, ACheckThatCouldNotBeStartedIsAnErrorAndNoPass) {
  const auto verdict = quarantine([](int number, const std::stop_token& stop) {
    if (number == 4) return Result<CheckResult>(fail(ErrorKind::kNotFound, "no dcgmi"));
    return passing(number, stop);
  });
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->recommendation, "investigate");
}

TEST_F(QuarantineTest, RefusesANodeThatIsNotCordoned) {
  patch_node("gpu-01", {{"spec", {{"unschedulable", nullptr}}}});
  const auto verdict = quarantine(passing);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(verdict.error().message, HasSubstr("kubectl cordon gpu-01"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
}

TEST_F(QuarantineTest, RefusesANodeWhoseLabelAsksForTheGpus) {
  pause_operands("gpu-01");
  const auto verdict = quarantine(passing);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kBlocked);
  EXPECT_THAT(verdict.error().message, HasSubstr("dcgm-exporter=paused-for-driver-upgrade"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");

  pause_operands("gpu-01", "paused-for-gpuward-reset");
  EXPECT_TRUE(quarantine(passing)) << "gpuward's own reset asks the exporter by itself";
}

TEST_F(QuarantineTest, BeginsNoCheckOnceALabelAsksForTheGpus) {
  std::vector<int> ran;
  const auto verdict = quarantine([&](int number, const std::stop_token& stop) {
    ran.push_back(number);
    pause_operands("gpu-01", "paused-for-mig-change");
    return passing(number, stop);
  });
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kBlocked);
  EXPECT_THAT(ran, ElementsAre(4));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineClaim)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)), "");
  EXPECT_THAT(clear_requests(), ::testing::IsEmpty());
}

TEST_F(QuarantineTest, EndsWithACheckThatALabelHasEnded) {
  const auto verdict = quarantine([](int, const std::stop_token&) -> Result<CheckResult> {
    return std::unexpected(blocked_by("key=value"));
  });
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kBlocked);
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
}

TEST_F(QuarantineTest, RefusesANodeThatASweepOrAnotherQuarantineHas) {
  for (const NodeNames& names : kAllNodeNames) {
    for (const NodeName name : {NodeName::kMaintenanceClaim, NodeName::kQuarantineClaim}) {
      const auto claim = [&](const Json& value) {
        return Json{{"metadata", {{"annotations", {{names(name), value}}}}}};
      };
      patch_node("gpu-01", claim(render_claim({"another", clock_.wall() + std::chrono::hours(1)})));
      EXPECT_THAT(quarantine(passing).error().message, HasSubstr("another")) << names(name);
      patch_node("gpu-01", claim(nullptr));
    }
  }
  EXPECT_TRUE(quarantine(passing));
}

TEST_F(QuarantineTest, UsesTheNamesThatTheExporterOfTheNodeUses) {
  patch_node("gpu-01",
             {{"metadata", {{"annotations", {{std::string(kPresetAnnotation), "aws-samples"}}}}}});
  EXPECT_TRUE(quarantine([&](int number, const std::stop_token& stop) {
    EXPECT_EQ(label("gpu-01", "gpu-healthcheck.aws-samples.io/mode"), "quarantine");
    return passing(number, stop);
  }));
  EXPECT_EQ(label("gpu-01", "gpu-healthcheck.aws-samples.io/mode"), "");
  EXPECT_EQ(label("gpu-01", "gpu-healthcheck.aws-samples.io/status"), "pass");
  EXPECT_THAT(annotation("gpu-01", "gpu-healthcheck.aws-samples.io/quarantine-result"),
              HasSubstr("return-to-service"));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "");
}

// The preset was changed while the diagnostics ran.
TEST_F(QuarantineTest, GivesBackWhatItTookUnderTheNamesOfBefore) {
  EXPECT_TRUE(quarantine([&](int number, const std::stop_token& stop) {
    patch_node("gpu-01", {{"metadata",
                           {{"annotations", {{std::string(kPresetAnnotation), "aws-samples"}}}}}});
    return passing(number, stop);
  }));
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineClaim)), "");
  EXPECT_EQ(label("gpu-01", "gpu-healthcheck.aws-samples.io/status"), "pass");
}

TEST_F(QuarantineTest, AStopTakesTheModeLabelOffAndSaysNothingOfTheNode) {
  std::stop_source stop;
  const auto verdict = quarantine(
      [&](int number, const std::stop_token& token) {
        stop.request_stop();
        return passing(number, token);
      },
      stop.get_token());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kStatus)), "");
  EXPECT_EQ(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineClaim)), "");
}

TEST_F(QuarantineTest, AKilledOneIsTakenAwayByTheNextRun) {
  process_.client.lives = 2;
  process_.client.death = MortalClient::Death::kBeforeTheAnswer;
  (void)quarantine(passing);
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "quarantine");
  process_.client.lives = kForEver;
  clock_.advance(std::chrono::hours(5));
  const auto verdict = quarantine(passing);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(label("gpu-01", kGpuwardNames(NodeName::kMode)), "");
}

TEST_F(QuarantineTest, AVerdictOfHoursIsNotLostToAServerThatIsDownForMinutes) {
  const auto verdict = quarantine([&](int number, const std::stop_token& stop) {
    if (number == 6) kube_.add_fault({.kind = fakes::FaultKind::kUnavailable, .times = 4});
    return passing(number, stop);
  });
  ASSERT_TRUE(verdict);
  EXPECT_THAT(annotation("gpu-01", kGpuwardNames(NodeName::kQuarantineResult)),
              HasSubstr("return-to-service"));
}

}  // namespace
}  // namespace gpuward::exporter
