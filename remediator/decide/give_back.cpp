#include <algorithm>

#include "core/runtime/clock.h"
#include "remediator/decide/draft.h"
#include "remediator/decide/guards/other_repairers.h"
#include "remediator/decide/maintenance.h"

namespace gpuward::remediator {
namespace {

// Returns the time after which the report must be measured. If a maintenance ended while its
// announcement stays, the time of the verification counts.
WallTime report_after(const Draft& draft) {
  if (const auto ended = reason_ended_at(draft)) return *ended;
  const StepRecord* verified = counting_record(draft.remediation, Step::kVerify);
  return verified == nullptr ? draft.now : verified->intent_at.value_or(draft.now);
}

std::optional<std::string> report_objection(const Draft& draft) {
  const Result<HealthReport>& report = draft.asked.report();
  if (!report) return "there is no health report: " + why_no_report(report.error());
  return objection_to(*report, *draft.inputs.node,
                      {.after = report_after(draft),
                       .max_age = draft.policy.return_to_service.max_report_age,
                       .now = draft.now});
}

}  // namespace

std::optional<Gate> gate_before_return(const Draft& draft) {
  const auto closed = [](std::string why) {
    return shut("return_to_service", std::move(why), kReportInterval);
  };
  if (draft.remediation.may_have_dropped(draft.now)) {
    Gate gate = closed("alert limit reached: dropped alerts count as firing until " +
                       to_rfc3339(draft.remediation.dropped->at + kDroppedLast));
    gate.look_again = kLongestExclusionInterval;
    return gate;
  }
  if (!is_ready(*draft.inputs.node)) return closed("the node is not Ready");
  if (auto who = repairer_at_work(*draft.inputs.node, draft.policy.repairer_signs))
    return closed(*std::move(who));
  if (auto why = report_objection(draft)) return closed(*std::move(why));
  return std::nullopt;
}

}  // namespace gpuward::remediator
