#include "remediator/execution/notices.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"
#include "remediator/actions/notify_action.h"

namespace gpuward::remediator {
namespace {

bool is_over(StepResult result) {
  return result == StepResult::kDone || result == StepResult::kFailed;
}

std::vector<std::string> names_of(const NotificationPolicy& policy) {
  std::vector<std::string> names;
  for (const SinkSettings& sink : policy.sinks) names.push_back(sink.name);
  return names;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Compares two statuses of a Remediation and collects what is to be told.
class NoticeWriter {
 public:
  NoticeWriter(const Remediation& before, RemediationStatus next, const NotificationPolicy& policy,
               WallTime now)
      : before_(before), next_(std::move(next)), policy_(policy), now_(now) {}

  RemediationStatus write() {
    const RemediationStatus& old = before_.status;
    const bool has_moved = old.phase != next_.phase;
    if (old.phase == Phase::kPending && has_moved) add(Moment::kOpened, {}, next_.message);
    add_steps();
    if (next_.escalated_to != old.escalated_to) add(Moment::kEscalated, {}, next_.message);
    add_approval();
    if (has_moved && next_.phase == Phase::kHeld) add(Moment::kHeld, {}, next_.message);
    if (has_moved && next_.phase == Phase::kPaused) add(Moment::kPaused, {}, next_.message);
    if (is_open(old.phase) && !is_open(next_.phase)) add(Moment::kClosed, {}, next_.message);
    return std::move(next_);
  }

 private:
  void add_steps() {
    const std::vector<StepRecord> records = next_.steps;
    for (const StepRecord& record : records) {
      const StepRecord* known = before_.status.find(record.step);
      const bool was_over =
          known != nullptr && is_over(known->result) && known->finished_at == record.finished_at;
      if (!is_over(record.result) || was_over) continue;
      const std::string step(to_string(record.step));
      if (record.step == Step::kNotify) {
        add_ordered(record);
      } else {
        add(Moment::kStep, step,
            step + " " + std::string(to_string(record.result)) + ": " + record.message);
      }
    }
  }

  // A plan has asked for it: neither moments nor severity are checked.
  void add_ordered(const StepRecord& record) {
    const auto named = record.facts.find(kSinksFact);
    std::vector<std::string> sinks =
        named == record.facts.end() ? names_of(policy_) : split_names(named->second);
    add_for(std::move(sinks), Moment::kNotify, std::string(to_string(record.step)),
            before_.status.message);
  }

  void add_approval() {
    const auto& asked = next_.approval;
    if (!asked || asked->seen_at) return;
    const auto& known = before_.status.approval;
    if (known && known->token == asked->token) return;
    add(Moment::kApproval, std::string(to_string(asked->step)), next_.message);
  }

  void add(Moment moment, const std::string& step, const std::string& message) {
    const Severity severity =
        std::max(before_.severity, next_.escalated_to.value_or(Severity::kNone));
    add_for(sinks_for(policy_, moment, severity), moment, step, message);
  }

  void add_for(std::vector<std::string> sinks, Moment moment, const std::string& step,
               const std::string& message) {
    if (sinks.empty()) return;
    if (next_.notices.size() >= kMaxNotices) next_.notices.erase(next_.notices.begin());
    const std::string what = std::string(to_string(moment)) + (step.empty() ? "" : "-" + step);
    const auto at = std::to_string(now_.time_since_epoch().count());
    next_.notices.push_back(
        {.id = before_.name + "-" + what + "-" + short_hash(before_.uid + at + message),
         .moment = moment,
         .sinks = std::move(sinks),
         .at = now_,
         .severity = std::max(before_.severity, next_.escalated_to.value_or(Severity::kNone)),
         .step = step,
         .phase = std::string(to_string(next_.phase)),
         .mode = std::string(to_string(next_.mode)),
         .message = message});
  }

  const Remediation& before_;
  RemediationStatus next_;
  const NotificationPolicy& policy_;
  WallTime now_;
};

}  // namespace

RemediationStatus with_notices(const Remediation& before, RemediationStatus next,
                               const NotificationPolicy& policy, WallTime now) {
  if (policy.sinks.empty()) return next;
  return NoticeWriter(before, std::move(next), policy, now).write();
}

std::vector<Notice> submit_notices(const Remediation& remediation, const NotificationPolicy& policy,
                                   Notifications& notifications) {
  std::vector<Notice> left;
  for (const Notice& notice : remediation.status.notices) {
    const bool are_notified =
        notifications.are_notified(event_of(remediation, notice, policy), notice.sinks);
    if (!are_notified) left.push_back(notice);
  }
  return left;
}

}  // namespace gpuward::remediator
