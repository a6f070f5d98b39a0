#include "remediator/act/pending_records.h"

#include <algorithm>

#include "remediator/cluster/view_queries.h"
#include "remediator/decide/status_change.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

// The node is being changed, or was, and the record does not have it as done yet.
bool has_unwritten_change(const RemediationStatus& status) {
  return std::ranges::any_of(status.steps, [](const StepRecord& record) {
    const bool is_change = is_taint_or_cordon(record.step) || record.step == Step::kReturn;
    return is_change && record.result == StepResult::kIntended;
  });
}

}  // namespace

void PendingRecords::note_change(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  to_record_.insert_or_assign(remediation, ToRecord{.at = parts_.clock.wall()});
}

void PendingRecords::put_off(Case& now) {
  now.decision.look_again = kStormInterval;
  const auto node = last_node(parts_.view, now.remediation.node);
  if (!node) return;
  const WallTime at = time_of_change(now.remediation.name);
  const std::lock_guard lock(mutex_);
  to_record_.insert_or_assign(now.remediation.name,
                              ToRecord{.at = at,
                                       .opened = now.remediation.created,
                                       .node = now.remediation.node,
                                       .version = now.remediation.resource_version,
                                       .node_version = node->meta.resource_version});
}

bool PendingRecords::waits_for_taints(const std::string& remediation) {
  const WallTime since = parts_.clock.wall() - kTaintsFirst;
  std::optional<ToRecord> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = to_record_.find(remediation);
    if (found != to_record_.end()) known = found->second;
  }
  return known && known->opened >= since && has_untainted_since(parts_.view, since, known->node) &&
         are_at(parts_.view, remediation, known->version, known->node_version);
}

WallTime PendingRecords::time_of_change(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  const auto known = to_record_.find(remediation);
  return known == to_record_.end() ? parts_.clock.wall() : known->second.at;
}

void PendingRecords::forget_written(const Remediation& written) {
  if (!has_unwritten_change(written.status)) forget(written.name);
}

void PendingRecords::forget(const std::string& remediation) {
  const std::lock_guard lock(mutex_);
  to_record_.erase(remediation);
}

RemediationStatus PendingRecords::with_own_change(const Case& now) {
  if (!has_unwritten_change(now.remediation.status)) return now.remediation.status;
  const auto mark = now.node ? owner_annotation_on(*now.node) : std::nullopt;
  const bool is_own = mark && mark->name == now.remediation.name &&
                      mark->severity == now.remediation.acted_severity();
  if (!is_own) return now.remediation.status;
  return with_annotation(now.remediation.status, *mark, time_of_change(now.remediation.name));
}

}  // namespace gpuward::remediator
