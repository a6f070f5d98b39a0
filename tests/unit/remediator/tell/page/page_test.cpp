#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "core/metrics/text_format.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/tell/page/audit.h"
#include "remediator/tell/page/metrics.h"
#include "remediator/tell/page/pages.h"
#include "remediator/tell/page/runbooks.h"
#include "tests/fakes/fake_clock.h"
#include "tests/places.inc"
#include "tests/support/temp_dir.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

Remediation some_remediation() {
  Remediation remediation;
  remediation.name = "rem-1";
  remediation.node = "gpu-01";
  remediation.severity = Severity::kReboot;
  remediation.alerts.push_back(
      {"Bad\n\"x\"", "ab", Severity::kReboot, {}, {}, std::nullopt, false, "XID_ERROR"});
  remediation.status.phase = Phase::kQuarantined;
  return remediation;
}

Decision some_decision() {
  Decision decision;
  decision.verdict = Verdict::kQuarantine;
  decision.rule = "severities.reboot";
  decision.message = "severity reboot: taint, cordon";
  decision.reasons = {"alert Bad fires"};
  return decision;
}

TEST(Audit, IsOneJsonLineWithTheEvidence) {
  const Remediation remediation = some_remediation();
  const Decision decision = some_decision();

  const std::string line = to_audit_line({.moment = AuditMoment::kDone,
                                          .at = {},
                                          .remediation = remediation,
                                          .decision = decision,
                                          .action = "quarantine",
                                          .error = {}});

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Json json = *parse_json(line);
  EXPECT_EQ(json["moment"], "done");
  EXPECT_EQ(json["node"], "gpu-01");
  EXPECT_EQ(json["action"], "quarantine");
  EXPECT_EQ(json["rule"], "severities.reboot");
  EXPECT_EQ(json["reasons"][0], "alert Bad fires");
  EXPECT_EQ(json["alerts"][0]["fingerprint"], "ab");
  EXPECT_EQ(json["alerts"][0]["errorClass"], "XID_ERROR");
  EXPECT_EQ(json["errorClass"], "XID_ERROR");
}

void write_line(AuditTrail& trail, AuditMoment moment) {
  const Remediation remediation = some_remediation();
  const Decision decision = some_decision();
  trail.write({.moment = moment,
               .at = {},
               .remediation = remediation,
               .decision = decision,
               .action = {},
               .error = {}});
}

TEST(Audit, AppendsToItsFile) {
  const support::TempDir folder;
  const auto path = folder.write("audit", "before\n");
  const auto trail = AuditTrail::open(path);
  ASSERT_TRUE(trail);

  write_line(**trail, AuditMoment::kDecided);

  EXPECT_THAT(*read_file(path), ::testing::StartsWith("before\n{"));
  EXPECT_EQ((*trail)->lost(), 0U);
}

// logrotate moves the file away and signals that while lines are being written.
TEST(Audit, LosesAndDividesNoLineWhenItsFileIsMovedAway) {
  constexpr int kLines = 2000;
  const support::TempDir folder;
  const auto trail = AuditTrail::open(folder / "audit");
  ASSERT_TRUE(trail);
  const Remediation remediation = some_remediation();
  const Decision decision = some_decision();
  std::jthread writer([&] {
    for (int i = 0; i < kLines; ++i) {
      (*trail)->write({.moment = AuditMoment::kDone,
                       .at = {},
                       .remediation = remediation,
                       .decision = decision,
                       .action = {},
                       .error = {}});
    }
  });

  std::vector<std::filesystem::path> files{folder / "audit"};
  for (int i = 0; i < 20; ++i) {
    files.push_back(folder / ("audit." + std::to_string(i)));
    std::filesystem::rename(files.front(), files.back());
    ASSERT_TRUE((*trail)->reopen());
  }
  writer.join();

  int lines = 0;
  for (const auto& file : files) {
    std::ifstream content(file);
    for (std::string line; std::getline(content, line); ++lines) EXPECT_TRUE(parse_json(line));
  }
  EXPECT_EQ(lines, kLines);
  EXPECT_EQ((*trail)->lost(), 0U);
}

TEST(Audit, StaysInItsFileIfNoOtherCanBeOpened) {
  const support::TempDir folder;
  std::filesystem::create_directory(folder / "logs");
  const auto trail = AuditTrail::open(folder / "logs/audit");
  ASSERT_TRUE(trail);
  std::filesystem::rename(folder / "logs", folder / "moved");

  const auto reopened = (*trail)->reopen();

  ASSERT_FALSE(reopened);
  EXPECT_THAT(reopened.error().message, HasSubstr("logs/audit"));
  write_line(**trail, AuditMoment::kDone);
  EXPECT_THAT(*read_file(folder / "moved/audit"), HasSubstr("rem-1"));
}

TEST(Audit, CountsLinesThatCouldNotBeWritten) {
  const auto trail = AuditTrail::open("/dev/full");
  ASSERT_TRUE(trail);

  write_line(**trail, AuditMoment::kDecided);

  EXPECT_EQ((*trail)->lost(), 1U);
}

std::string text_of(const Counters& counters, const Standing& standing) {
  const auto families = to_families(counters.values(), standing);
  return metrics::to_text(families);
}

TEST(Metrics, StartAtZeroSoThatTheFirstFailureIsSeen) {
  fakes::FakeClock clock;
  const std::string text = text_of(Counters(clock), {});

  EXPECT_THAT(text, HasSubstr("gpuward_remediator_notifications_total 0"));
  EXPECT_THAT(text,
              HasSubstr("gpuward_remediator_notifications_failed_total{reason=\"not_durable\"} 0"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_action_failures_total{action=\"quarantine\"} 0"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_decisions_total{verdict=\"begin\"} 0"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_errors_total{kind=\"timeout\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("last_notification_timestamp_seconds")));
}

TEST(Metrics, TellWhyNothingIsDoneAndSinceWhen) {
  fakes::FakeClock clock;
  Standing standing;
  standing.waiting.push_back({.phase = Phase::kWaiting,
                              .rule = "guard.evidence",
                              .number = 2,
                              .since = WallTime(std::chrono::seconds(90))});

  const std::string text = text_of(Counters(clock), standing);

  const std::string labels = "{phase=\"Waiting\",rule=\"guard.evidence\"} ";
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_waiting" + labels + "2\n"));
  EXPECT_THAT(text,
              HasSubstr("gpuward_remediator_waiting_since_timestamp_seconds" + labels + "90\n"));
}

TEST(Metrics, TellOfTheLedgerAndTheStopSwitchIfThisReplicaLeads) {
  fakes::FakeClock clock;
  Standing standing;
  standing.ledger_kept = false;
  standing.stopped = true;
  const std::string of_another = text_of(Counters(clock), standing);
  EXPECT_THAT(of_another, Not(HasSubstr("gpuward_remediator_ledger_kept")));
  EXPECT_THAT(of_another, Not(HasSubstr("gpuward_remediator_stopped")));

  standing.leads = true;
  const std::string text = text_of(Counters(clock), standing);

  EXPECT_THAT(text, HasSubstr("gpuward_remediator_ledger_kept 0\n"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_stopped 1\n"));
}

TEST(Metrics, CountAnswersByTheirStatus) {
  fakes::FakeClock clock;
  Counters counters(clock);
  counters.count_answer(401);
  counters.count_answer(418);

  const std::string text = text_of(counters, {});

  const std::string name = "gpuward_remediator_webhook_requests_total";
  EXPECT_THAT(text, HasSubstr(name + "{code=\"401\"} 1"));
  EXPECT_THAT(text, HasSubstr(name + "{code=\"413\"} 0"));
  EXPECT_THAT(text, HasSubstr(name + "{code=\"418\"} 1"));
}

TEST(Metrics, TellHowOldAFaultWasAtEachMilestone) {
  fakes::FakeClock clock;
  Counters counters(clock);
  counters.count(Milestone::kCordoned, std::chrono::seconds(20));

  const std::string text = text_of(counters, {});

  const std::string name = "gpuward_remediator_fault_age_seconds";
  EXPECT_THAT(text, HasSubstr(name + "_bucket{milestone=\"cordoned\",le=\"15\"} 0"));
  EXPECT_THAT(text, HasSubstr(name + "_bucket{milestone=\"cordoned\",le=\"30\"} 1"));
  EXPECT_THAT(text, HasSubstr(name + "_sum{milestone=\"cordoned\"} 20"));
  EXPECT_THAT(text, HasSubstr(name + "_count{milestone=\"recovered\"} 0"));
}

TEST(Metrics, CountWhatHappened) {
  fakes::FakeClock clock;
  Counters counters(clock);
  WebhookOutcome outcome;
  outcome.status = 503;
  outcome.failure = "not_durable";
  outcome.rejected = 2;
  outcome.truncated = 4;
  counters.count(outcome);
  counters.count(Error{ErrorKind::kTimeout, "late", {}});
  const Remediation remediation = some_remediation();
  const Decision decision = some_decision();
  counters.count(AuditRecord{.moment = AuditMoment::kFailed,
                             .at = {},
                             .remediation = remediation,
                             .decision = decision,
                             .action = "quarantine",
                             .error = "no"});

  const std::string text = text_of(counters, {});

  EXPECT_THAT(text,
              HasSubstr("gpuward_remediator_notifications_failed_total{reason=\"not_durable\"} 1"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_alerts_total{outcome=\"rejected\"} 2"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_truncated_alerts_total 4"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_errors_total{kind=\"timeout\"} 1"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_action_failures_total{action=\"quarantine\"} 1"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_last_notification_timestamp_seconds"));
}

TEST(Metrics, ShowWhatStands) {
  fakes::FakeClock clock;
  Standing standing;
  standing.remediations = {
      {.phase = Phase::kQuarantined, .severity = Severity::kReboot, .number = 3},
      {.phase = Phase::kWaiting,
       .severity = Severity::kReset,
       .number = 2,
       .unanswered = 2,
       .oldest_step = Clock::Wall(std::chrono::seconds(1500))}};
  standing.mode = Mode::kTaint;
  standing.last_reload_good = false;
  standing.approvals_guarded = false;

  const std::string text = text_of(Counters(clock), standing);

  EXPECT_THAT(
      text,
      HasSubstr("gpuward_remediator_remediations{phase=\"Quarantined\",severity=\"reboot\"} 3"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_approvals_waiting 2"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_approvals_guarded 0"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_oldest_step_timestamp_seconds{phase=\"Waiting\","
                              "severity=\"reset\"} 1500"));
  EXPECT_THAT(text, HasSubstr("gpuward_remediator_mode_info{mode=\"taint\"} 1"));
  EXPECT_THAT(text, HasSubstr("gpuward_config_last_reload_successful 0"));
}

TEST(Pages, SayWhyTheRemediatorIsNotReady) {
  const auto routes =
      telemetry_routes({.families = [] { return metrics::Families(); },
                        .objection = [] { return std::optional<std::string>("no API server"); }},
                       http::Access::kOpen);
  for (const http::Route& route : routes) {
    http::Request request;
    request.path = route.path;
    const http::Response response = route.handler(request);
    const bool is_readiness = route.path == "/readyz";
    EXPECT_EQ(response.status, is_readiness ? 503 : 200) << route.path;
    if (is_readiness) {
      EXPECT_THAT(*response.body, HasSubstr("no API server"));
    }
  }
}

http::Response get_runbook(const std::string& path) {
  http::Request request;
  request.path = path;
  return runbook_route().handler(request);
}

TEST(Runbooks, AreTheFilesOfTheAlertsFolder) {
  const std::filesystem::path folder = GPUWARD_SOURCE_DIR "/alerts/runbooks";
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Runbook* runbook = find_runbook(file.path().stem().string());
    ASSERT_NE(runbook, nullptr) << file.path();
    EXPECT_EQ(runbook->markdown, *read_file(file.path()));
    ++files;
  }
  EXPECT_EQ(all_runbooks().size(), files);
}

// The index of the runbooks shows the summaries. Each must exist, and none may be the beginning of
// a longer one.
TEST(Runbooks, HaveASummaryOfOneSentenceBelowTheirTitle) {
  std::set<std::string> all;
  for (const Runbook& runbook : all_runbooks()) {
    const std::string summary = meaning_of(runbook);
    EXPECT_TRUE(runbook.markdown.starts_with("# " + std::string(runbook.alert) + "\n\n" + summary +
                                             "\n\n`severity: "))
        << runbook.alert;
    EXPECT_THAT(summary, MatchesRegex("[A-Z][^\n`]+[.]")) << runbook.alert;
    EXPECT_THAT(summary, Not(HasSubstr(". "))) << runbook.alert;
    EXPECT_LE(summary.size(), 100U) << runbook.alert;
    EXPECT_TRUE(all.insert(summary).second) << runbook.alert << " has that of another";
    EXPECT_THAT(*get_runbook("/runbooks").body, HasSubstr(summary.substr(0, 20)));
  }
}

TEST(Runbooks, AreServedAsPagesWhoseLinksLeadToEachOther) {
  for (const char* path : {"/runbooks/GpuFallenOffBus", "/runbooks/GpuFallenOffBus.md"}) {
    const http::Response page = get_runbook(path);
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_THAT(*page.body, HasSubstr("<h1>GpuFallenOffBus</h1>"));
    EXPECT_THAT(*page.body, HasSubstr("<a href=\"GpuNodeNeedsReset.md\">GpuNodeNeedsReset</a>"));
  }
  EXPECT_THAT(*get_runbook("/runbooks").body, HasSubstr("<a href=\"runbooks/GpuFallenOffBus\">"));
  EXPECT_THAT(*get_runbook("/runbooks/").body, HasSubstr("<a href=\"GpuFallenOffBus\">"));
  for (const char* address : {"policy", "runbooks", "metrics"}) {
    const std::string link = "href=\"../" + std::string(address) + "\"";
    EXPECT_THAT(*get_runbook("/runbooks/GpuFallenOffBus").body, HasSubstr(link));
  }
  EXPECT_EQ(get_runbook("/runbooks/<b>").status, 404);
  EXPECT_THAT(*get_runbook("/runbooks/<b>").body, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace gpuward::remediator
