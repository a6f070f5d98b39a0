#include "remediator/act/actions/replacement_wait.h"

#include <algorithm>

#include "core/kube/objects.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kReplacementInterval = seconds(15);
// Limit for the reports that one check requests.
constexpr int kMostReports = 16;

// Returns when the drain of the node began, or the intent of its end if there was no drain. An
// autoscaler creates the next node for the pods of a drain, before the machine ends.
WallTime out_of_service_since(const StepRequest& request) {
  const RemediationStatus& status = request.remediation.status;
  const StepRecord* drain = status.find(Step::kDrain);
  if (drain != nullptr && drain->intent_at) return *drain->intent_at;
  return status.find(Step::kTerminate)->intent_at.value_or(request.now);
}

// Returns the new nodes, with the node that already counts first. A change to another node would
// restart the soak time.
std::vector<Newcomer> with_counted_first(std::vector<Newcomer> all, const std::string& uid) {
  const auto counted = std::ranges::find_if(
      all, [&](const Newcomer& newcomer) { return newcomer.node->meta.uid == uid; });
  if (counted != all.end()) std::rotate(all.begin(), counted, counted + 1);
  return all;
}

}  // namespace

struct ReplacementWait::Lost {
  MachineKind kind;
  std::string instance;
  // Since when the node takes no work, in whole seconds like the API server's times.
  WallTime since;
};

Result<StepProgress> ReplacementWait::watch(const StepRequest& request) {
  const StepRecord& end = *request.remediation.status.find(Step::kTerminate);
  const Lost lost{.kind = kind_in(end.facts),
                  .instance = value_at(end.facts, kInstanceFact),
                  .since = std::chrono::floor<seconds>(out_of_service_since(request))};
  const auto newcomers = replacements_.newcomers(request.remediation.name, lost.since);
  std::string why;
  int reports_asked = 0;
  for (const Newcomer& newcomer :
       with_counted_first(newcomers, fact_of(request, kReplacementUidFact))) {
    const kube::Node& node = *newcomer.node;
    if (!is_in_pool_of(lost.kind, kind_of(node, place_keys(policy_.get()->budgets)))) continue;
    auto objected = objection(request, lost, newcomer);
    if (!objected) {
      ++reports_asked;
      objected = objection_to_health(request, node);
    }
    if (!objected) return count(request, node);
    if (why.empty()) why = "; node " + node.meta.name + " does not count: " + *objected;
    if (reports_asked == kMostReports) break;
  }
  StepProgress progress = progress_of(request, StepResult::kRunning, "waiting for a replacement");
  if (lost.kind.pool && !lost.kind.pool->empty()) progress.message += " in pool " + *lost.kind.pool;
  progress.message += why;
  for (const std::string& fact :
       {kReplacementFact, kReplacementUidFact, kHealthySinceFact, kHealthyFromFact})
    progress.facts.erase(fact);
  progress.look_again = kReplacementInterval;
  return progress;
}

std::optional<std::string> ReplacementWait::objection(const StepRequest& request, const Lost& lost,
                                                      const Newcomer& newcomer) {
  const kube::Node& node = *newcomer.node;
  const bool is_counted = fact_of(request, kReplacementUidFact) == node.meta.uid;
  const bool is_taken =
      is_counted ? must_yield(request.remediation.name, newcomer.claims) : !newcomer.claims.empty();
  if (is_taken)
    return "it already counts as the replacement for " + newcomer.claims.front().remediation;
  if (node.provider_id == lost.instance) return "it is the instance that was to be terminated";
  const auto keys = place_keys(policy_.get()->budgets);
  if (auto why = objection_to_kind(lost.kind, kind_of(node, keys))) return why;
  if (node.meta.deleting) return "it is being deleted";
  if (node.unschedulable) return "it is cordoned";
  if (newcomer.is_bad) return "it has a remediation of its own";
  if (!is_ready(node)) return "it is not Ready";
  return std::nullopt;
}

std::optional<std::string> ReplacementWait::objection_to_health(const StepRequest& request,
                                                                const kube::Node& node) {
  if (reports_ == nullptr) return "cannot read health reports: --prometheus.url is not set";
  const auto report = reports_->latest(node.meta.name);
  if (!report) return why_no_report(report.error());
  const HealthDemand demand{
      .after = {}, .max_age = policy_.get()->return_to_service.max_report_age, .now = request.now};
  if (auto why = objection_to(*report, node, demand)) return why;
  if (report->severity == Severity::kNone) return std::nullopt;
  return "the report has severity " + std::string(to_string(report->severity));
}

// Returns the progress with `node` as the replacement. A new node counts from the next check, after
// the claim was written.
StepProgress ReplacementWait::count(const StepRequest& request, const kube::Node& node) {
  const bool is_counted = fact_of(request, kReplacementUidFact) == node.meta.uid;
  const WallTime since = is_counted ? healthy_since(request).value_or(request.now) : request.now;
  StepProgress progress =
      progress_of(request, StepResult::kRunning,
                  "node " + node.meta.name + " has joined, healthy since " + to_rfc3339(since));
  progress.facts[kReplacementFact] = node.meta.name;
  progress.facts[kReplacementUidFact] = node.meta.uid;
  const milliseconds left = request.step.soak - soaked(request, since, progress.facts);
  progress.look_again = std::clamp(left, milliseconds(seconds(1)), kReplacementInterval);
  if (!is_counted || left.count() > 0) return progress;
  const auto others = replacements_.claims_on(node.meta.uid, request.remediation.name);
  progress.look_again = kReplacementInterval;
  if (!others) {
    progress.message += "; cannot check yet whether another remediation claims it too";
  } else if (!others->empty()) {
    progress.message += "; it is also claimed by " + others->front().remediation;
  } else {
    progress.result = StepResult::kDone;
    progress.message = "replaced by node " + node.meta.name;
  }
  return progress;
}

}  // namespace gpuward::remediator
