#include "remediator/decide/guards/approval.h"

#include <algorithm>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

std::string token_for(const Remediation& remediation, const kube::Node& node, Step step,
                      WallTime requested_at) {
  std::vector<std::string> evidence;
  for (const AlertEvidence& alert : remediation.alerts) evidence.push_back(alert.fingerprint);
  std::ranges::sort(evidence);
  std::string bound = remediation.uid + '\n' + std::string(to_string(step)) + '\n' +
                      std::string(to_string(remediation.acted_severity())) + '\n' + node.meta.uid +
                      '\n' + node.provider_id + '\n' + to_rfc3339_ms(requested_at);
  for (const std::string& fingerprint : evidence) bound += '\n' + fingerprint;
  return short_hash(bound);
}

bool is_over(const ApprovalRecord& record, WallTime now) {
  return record.seen_at &&
         (now - *record.seen_at > kApprovalLasts || *record.seen_at - now > kMostClockDifference);
}

}  // namespace

ApprovalAnswer approval_of(const Remediation& remediation, const kube::Node& node, Step step,
                           WallTime now) {
  const auto& known = remediation.status.approval;
  const bool is_asked = known && known->step == step && !is_over(*known, now) &&
                        known->token == token_for(remediation, node, step, known->requested_at);
  if (!is_asked) {
    // The resource stores milliseconds, and the token must come out the same from the stored time.
    const auto asked_at = std::chrono::floor<std::chrono::milliseconds>(now);
    return {.record = {.step = step,
                       .token = token_for(remediation, node, step, asked_at),
                       .requested_at = asked_at,
                       .by = {},
                       .seen_at = {}},
            .is_given = false};
  }
  ApprovalAnswer answer{.record = *known, .is_given = false};
  const OperatorRequest& wish = remediation.wish;
  if (wish.approved_token != known->token || wish.approved_by.empty()) return answer;
  answer.is_given = true;
  answer.record.by = wish.approved_by;
  if (!answer.record.seen_at) answer.record.seen_at = now;
  return answer;
}

}  // namespace gpuward::remediator
