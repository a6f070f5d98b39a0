#include "remediator/tell/web/story.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

WallTime at(const char* time) { return *parse_rfc3339(std::string("2026-11-21T08:") + time + "Z"); }

std::vector<std::string> told(const Remediation& remediation) {
  std::vector<std::string> lines;
  for (const auto& [at, text] : story_of(remediation)) {
    lines.push_back(to_rfc3339(at).substr(14, 5) + " " + text);
  }
  return lines;
}

TEST(Story, IsToldInTheOrderInWhichItHappened) {
  Remediation one;
  one.created = at("00:05");
  AlertEvidence alert;
  alert.alertname = "GpuNodeNeedsReboot";
  alert.severity = Severity::kReboot;
  alert.starts_at = at("00:04");
  alert.ended_at = at("09:00");
  one.alerts.push_back(alert);
  NodeFinding finding;
  finding.check = "xid";
  finding.code = "79";
  finding.gpu = "3";
  finding.first_seen = at("00:01");
  one.status.findings.push_back(finding);
  StepRecord drain;
  drain.step = Step::kDrain;
  drain.result = StepResult::kDone;
  drain.intent_at = at("03:00");
  drain.finished_at = at("05:00");
  drain.attempts = 2;
  drain.message = "drained";
  one.status.steps.push_back(drain);
  one.status.history = {"2026-11-21T08:02:00Z drain failed: timed out", "no time"};
  one.status.approval = ApprovalRecord{.step = Step::kReboot,
                                       .token = "t",
                                       .requested_at = at("06:00"),
                                       .by = "ann",
                                       .seen_at = at("07:00")};
  one.status.cleared = Cleared{.severity = Severity::kNone, .at = at("08:00")};
  one.status.phase = Phase::kReleased;
  one.status.message = "healthy again";
  one.status.closed_at = at("10:00");

  EXPECT_THAT(
      told(one),
      ::testing::ElementsAre(
          "00:01 found: xid 79 on GPU 3", "00:04 alert GpuNodeNeedsReboot fires, severity reboot",
          "00:05 remediation opened", "02:00 drain failed: timed out",
          "03:00 step drain begins, attempt 2", "05:00 step drain: done, drained",
          "06:00 approval requested: reboot", "07:00 reboot approved by ann",
          "08:00 a report lowered the severity to none", "09:00 alert GpuNodeNeedsReboot has ended",
          "10:00 closed: Released, healthy again"));
}

}  // namespace
}  // namespace gpuward::remediator
