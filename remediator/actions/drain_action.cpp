#include "remediator/actions/drain_action.h"

#include "core/kube/objects.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostJobNames = 8192;  // bytes in the record

StepResult result_of(DrainState verdict) {
  switch (verdict) {
    case DrainState::kDone:
      return StepResult::kDone;
    case DrainState::kGoingOn:
      return StepResult::kRunning;
    case DrainState::kFailed:
      return StepResult::kFailed;
  }
  return StepResult::kFailed;
}

// For who starts them over. A job that is told again after a restart of ours stands there once.
void note_job(const std::string& name, Facts& facts) {
  std::string& known = facts[kJobsFact];
  const std::string between(kBetweenJobs);
  if ((between + known + between).contains(between + name + between)) return;
  if (known.size() + between.size() + name.size() > kMostJobNames) return;
  known += (known.empty() ? "" : between) + name;
}

}  // namespace

Result<StepProgress> DrainAction::begin(const StepRequest& request) { return watch(request); }

Result<StepProgress> DrainAction::watch(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(Step::kDrain);
  const bool is_recorded = record != nullptr && record->intent_at.has_value();
  const auto progress =
      drainer_.advance({.node = request.node.meta.name,
                        .node_uid = request.node.meta.uid,
                        .settings = request.step.drain,
                        .started_at = is_recorded ? *record->intent_at : request.now,
                        .elapsed = request.ran,
                        .permit = request.permit,
                        .node_is_unreachable = is_unreachable(request.node),
                        .own_pod = own_pod_});
  if (!progress) return std::unexpected(progress.error());
  StepProgress next{.result = result_of(progress->verdict),
                    .message = progress->summary,
                    .facts = request.facts,
                    .look_again = progress->look_again};
  for (const AffectedJob& job : progress->starting_jobs) {
    note_job(job.name, next.facts);
    next.news.push_back(job.name + " loses " + std::to_string(job.pods) + " pods on node " +
                        request.node.meta.name);
  }
  if (progress->is_newly_held)
    next.news.push_back("drain of node " + request.node.meta.name + " waits: " + progress->summary);
  return next;
}

Status DrainAction::abandon(const StepRequest& request) {
  drainer_.forget(request.node.meta.name);
  return {};
}

}  // namespace gpuward::remediator
