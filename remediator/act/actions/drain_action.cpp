#include "remediator/act/actions/drain_action.h"

#include <algorithm>

#include "core/kube/objects.h"
#include "core/runtime/json.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostJobNames = 8192;  // Limit in bytes for the job names in the record.

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

// Records a job for the step restart-job. A job that the drainer reports again after a restart of
// gpuward is listed once.
void note_job(const std::string& name, Facts& facts) {
  std::string& known = facts[kJobsFact];
  const std::string between(kBetweenJobs);
  if ((between + known + between).contains(between + name + between)) return;
  if (known.size() + between.size() + name.size() > kMostJobNames) return;
  known += (known.empty() ? "" : between) + name;
}

// The fact with a JSON object: for each owner, the number of evicted pods that came after the drain
// began.
constexpr const char* kAgainFact = "evictedAgain";
// The fact that the policy let the plan continue after the deadline although pods were left.
constexpr const char* kPodsLeftFact = "podsLeft";

EvictedAgain again_in(const Facts& facts) {
  EvictedAgain again;
  const auto json = parse_json(value_at(facts, kAgainFact));
  if (!json || !json->is_object()) return again;
  for (const auto& [owner, count] : json->items()) {
    if (count.is_number_integer()) again[owner] = count.get<int>();
  }
  return again;
}

// Returns the taints of the node, and the taint of a cordon if the node is cordoned. The node
// controller adds that taint only shortly after the cordon.
std::vector<kube::Taint> taints_of(const kube::Node& node) {
  std::vector<kube::Taint> taints = node.taints;
  const std::string cordon = "node.kubernetes.io/unschedulable";
  if (node.unschedulable && std::ranges::find(taints, cordon, &kube::Taint::key) == taints.end())
    taints.push_back({.key = cordon, .value = {}, .effect = "NoSchedule", .raw = {}});
  return taints;
}

}  // namespace

Result<StepProgress> DrainAction::begin(const StepRequest& request) { return watch(request); }

DrainRequest DrainAction::drain_of(const StepRequest& request) const {
  const StepRecord* record = request.remediation.status.find(Step::kDrain);
  const bool is_recorded = record != nullptr && record->intent_at.has_value();
  return {.node = request.node.meta.name,
          .node_uid = request.node.meta.uid,
          .settings = request.step.drain,
          .started_at = is_recorded ? *record->intent_at : request.now,
          .elapsed = request.ran,
          .permit = request.permit,
          .node_is_unreachable = is_unreachable(request.node),
          .own_pod = own_pod_,
          .taints = taints_of(request.node),
          .again = again_in(request.facts)};
}

Result<std::optional<StepUndone>> DrainAction::undone(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(Step::kDrain);
  const bool has_left = request.facts.contains(kPodsLeftFact) && record != nullptr;
  const auto undone =
      drainer_.undone(drain_of(request), has_left ? record->finished_at : std::nullopt);
  if (!undone) return std::unexpected(undone.error());
  if (!*undone) return std::nullopt;
  return StepUndone{.what = (*undone)->summary, .can_be_redone = (*undone)->can_be_drained};
}

Result<StepProgress> DrainAction::watch(const StepRequest& request) {
  const auto progress = drainer_.advance(drain_of(request));
  if (!progress) return std::unexpected(progress.error());
  StepProgress next{.result = result_of(progress->verdict),
                    .message = progress->summary,
                    .facts = request.facts,
                    .look_again = progress->look_again};
  next.facts.erase(kAgainFact);
  if (!progress->again.empty()) next.facts[kAgainFact] = dump_json(progress->again);
  next.facts.erase(kPodsLeftFact);
  const bool proceeds_without = progress->verdict == DrainState::kDone && !progress->left.empty();
  if (proceeds_without) next.facts[kPodsLeftFact] = "true";
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
