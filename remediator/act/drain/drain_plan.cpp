#include "remediator/act/drain/drain_plan.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/kube/gpu_pods.h"

namespace gpuward::remediator {
namespace {

struct Judgement {
  DrainAct act = DrainAct::kEvict;
  std::string reason;
  bool is_protected = false;
};

struct Question {
  const kube::Pod& pod;
  const DrainSettings& settings;
  const DrainScene& scene;
};

bool is_in(const std::vector<std::string>& globs, const std::string& ns) {
  return std::ranges::any_of(globs,
                             [&](const std::string& glob) { return matches_glob(glob, ns); });
}

std::optional<Judgement> judge_selection(const Question& ask) {
  if (is_in(ask.settings.skipped_namespaces, ask.pod.meta.ns))
    return Judgement{DrainAct::kSkip, "in a skipped namespace"};
  if (ask.settings.pods != DrainedPods::kGpu) return std::nullopt;
  if (!kube::uses_gpus(ask.pod)) return Judgement{DrainAct::kSkip, "without a GPU"};
  if (kube::has_ended(ask.pod))
    return Judgement{DrainAct::kSkip, "already ended and holding no GPU"};
  return std::nullopt;
}

std::optional<Judgement> judge_owner(const Question& ask) {
  if (kube::is_of_daemon_set(ask.pod) && !kube::has_ended(ask.pod))
    return Judgement{DrainAct::kSkip, "of DaemonSets"};
  if (is_mirror_pod(ask.pod)) return Judgement{DrainAct::kSkip, "of the node's static pods"};
  return std::nullopt;
}

std::optional<Judgement> judge_end(const Question& ask) {
  if (!ask.pod.meta.deleting) return std::nullopt;
  const bool is_over = ask.pod.meta.ends_at && *ask.pod.meta.ends_at <= ask.scene.now;
  if (is_over && ask.scene.node_is_unreachable &&
      ask.settings.unreachable == UnreachablePods::kForget) {
    return Judgement{DrainAct::kSkip, "whose termination the unreachable node cannot confirm"};
  }
  return Judgement{DrainAct::kTerminating, "terminating"};
}

// Applies even after the deadline: a refusal ends the drain before any pod is evicted.
std::optional<Judgement> judge_exclusion(const Question& ask) {
  if (!is_in(ask.settings.excluded_namespaces, ask.pod.meta.ns)) return std::nullopt;
  if (kube::has_ended(ask.pod))
    return Judgement{DrainAct::kSkip, "ended, in an excluded namespace"};
  return Judgement{DrainAct::kRefuse, "its namespace is excluded"};
}

std::optional<Judgement> judge_loss(const Question& ask) {
  if (kube::has_ended(ask.pod)) return Judgement{};  // no running work is lost
  if (ask.pod.has_empty_dir && !ask.settings.evicts_empty_dir)
    return Judgement{DrainAct::kRefuse, "has an emptyDir"};
  if (is_unmanaged(ask.pod) && !ask.settings.evicts_unmanaged)
    return Judgement{DrainAct::kRefuse, "no controller would recreate it"};
  return std::nullopt;
}

std::optional<Judgement> judge_protection(const Question& ask) {
  const auto protection = protection_of(ask.pod, ask.scene.now);
  if (!protection) return std::nullopt;
  return Judgement{DrainAct::kWait, "protected by " + protection->annotation, true};
}

std::optional<Judgement> judge_namespace(const Question& ask) {
  const auto rule = std::ranges::find_if(ask.settings.namespaces, [&](const NamespaceRule& known) {
    return matches_glob(known.name, ask.pod.meta.ns);
  });
  if (rule == ask.settings.namespaces.end() || rule->mode == NamespaceMode::kEvict)
    return std::nullopt;
  if (ask.scene.elapsed < rule->up_to)
    return Judgement{DrainAct::kWait, "may finish first: namespace rule " + rule->name};
  if (rule->mode == NamespaceMode::kWait) return std::nullopt;
  return Judgement{DrainAct::kDelete, "deleted by namespace rule " + rule->name};
}

// The first filter that decides wins: the selection first, then those of kubectl in kubectl's order
// (pkg/drain/filters.go), then the ones that let a pod wait.
constexpr std::optional<Judgement> (*kFilters[])(const Question&) = {
    judge_selection, judge_owner,      judge_end,      judge_exclusion,
    judge_loss,      judge_protection, judge_namespace};

Judgement judge(const Question& ask) {
  for (const auto filter : kFilters) {
    if (auto judgement = filter(ask)) return std::move(*judgement);
  }
  return {};
}

bool is_newcomer(const Question& ask) {
  const auto& created = ask.pod.meta.created;
  return ask.scene.began && created && *created > *ask.scene.began;
}

// The API server gives whole seconds: a controller may create the next pod in the second in which
// the first was evicted.
bool may_be_newcomer(const Question& ask) {
  const auto& created = ask.pod.meta.created;
  return ask.scene.began && created &&
         *created >= std::chrono::floor<std::chrono::seconds>(*ask.scene.began);
}

// `kubectl drain` evicts only the pods that it found: a pod that came since and may be there stays.
// One that uses a GPU, or asks not to be disrupted, is in the way of the next step, as is one that
// no scheduler would have put here.
bool may_stay(const Question& ask) {
  return !kube::uses_gpus(ask.pod) && !protection_of(ask.pod, ask.scene.now) &&
         !is_in(ask.settings.excluded_namespaces, ask.pod.meta.ns) &&
         tolerates(ask.pod, ask.scene.taints);
}

constexpr std::string_view kCame = "created after the drain began";

Judgement judge_newcomer(const Question& ask, Judgement judgement) {
  switch (judgement.act) {
    case DrainAct::kSkip:
    case DrainAct::kTerminating:
    case DrainAct::kKeep:
      return judgement;
    case DrainAct::kRefuse:
      return {DrainAct::kKeep, std::string(kCame) + "; " + judgement.reason, true};
    case DrainAct::kEvict:
    case DrainAct::kDelete:
    case DrainAct::kWait:
      break;
  }
  if (kube::has_ended(ask.pod)) return judgement;
  return may_stay(ask) ? Judgement{DrainAct::kSkip, std::string(kToleratesReason)} : judgement;
}

PlannedPod plan_pod(const Question& ask) {
  const kube::ObjectMeta& meta = ask.pod.meta;
  Judgement judgement = judge(ask);
  const bool came_since = is_newcomer(ask) || (may_be_newcomer(ask) && may_stay(ask) &&
                                               judgement.act != DrainAct::kRefuse);
  if (came_since) judgement = judge_newcomer(ask, std::move(judgement));
  PlannedPod planned{.ns = meta.ns, .name = meta.name, .uid = meta.uid};
  planned.act = judgement.act;
  planned.reason = std::move(judgement.reason);
  planned.is_protected = judgement.is_protected;
  planned.wave = wave_of(ask.pod);
  if (planned.full_name() == ask.scene.own_pod) planned.wave = DrainWave::kSelf;
  if (planned.wave == DrainWave::kWorkload) planned.job = job_of(ask.pod);
  planned.own_grace_seconds = ask.pod.grace_seconds;
  planned.ends_at = meta.ends_at;
  planned.is_newcomer = came_since;
  planned.has_ended = kube::has_ended(ask.pod);
  if (came_since) planned.owner = owner_of(ask.pod);
  return planned;
}

// If one pod of a job goes, the others follow: if one may wait, all wait.
void hold_jobs_together(std::vector<PlannedPod>& pods) {
  std::map<std::string, bool> waiting;  // job -> one of its pods is protected
  for (const PlannedPod& pod : pods) {
    if (pod.act == DrainAct::kWait && !pod.job.empty()) waiting[pod.job] |= pod.is_protected;
  }
  for (PlannedPod& pod : pods) {
    const auto held = waiting.find(pod.job);
    const bool is_settled = pod.act == DrainAct::kTerminating || pod.act == DrainAct::kKeep;
    if (held == waiting.end() || !pod.is_left() || is_settled) continue;
    if (pod.act != DrainAct::kWait) pod.reason = "another pod of its job is waiting";
    pod.act = DrainAct::kWait;
    pod.is_protected = held->second;
  }
}

// Returns whether `pods` of an owner, which came at once and go together, may go after those that
// `again` counts. More than the limit go only if they are of a job, whose rest could not run, and
// only the first time.
bool may_go_again(const EvictedAgain& again, const std::string& owner, int pods) {
  const auto known = again.find(owner);
  if (known == again.end()) return again.size() < kMostOwnersCounted;
  return known->second + pods <= kMostEvictedAgain;
}

// A pod that its owner has replaced several times would be replaced again.
void keep_those_that_come_again(std::vector<PlannedPod>& pods, const DrainScene& scene) {
  if (scene.again == nullptr) return;
  std::map<std::string, std::vector<PlannedPod*>> together;  // by job; one without a job is alone
  for (PlannedPod& pod : pods) {
    const bool is_sent = pod.act == DrainAct::kEvict || pod.act == DrainAct::kDelete;
    const bool is_counted = scene.counted != nullptr && scene.counted->contains(pod.uid);
    if (pod.is_newcomer && is_sent && !pod.has_ended && !is_counted)
      together[pod.job.empty() ? pod.uid : pod.job].push_back(&pod);
  }
  EvictedAgain again = *scene.again;
  for (const auto& [job, members] : together) {
    const int count = static_cast<int>(members.size());
    const bool may_go = std::ranges::all_of(
        members, [&](const PlannedPod* pod) { return may_go_again(again, pod->owner, count); });
    for (PlannedPod* const pod : members) {
      if (may_go) {
        ++again[pod->owner];
        continue;
      }
      pod->act = DrainAct::kKeep;
      pod->reason = std::string(kCame) + ", like pods of the same owner that were evicted earlier";
      pod->is_protected = true;
    }
  }
}

std::vector<AffectedJob> jobs_of(const std::vector<PlannedPod>& pods) {
  std::vector<AffectedJob> jobs;
  for (const PlannedPod& pod : pods) {  // pods of a job are adjacent
    if (pod.job.empty() || !pod.is_left()) continue;
    if (jobs.empty() || jobs.back().name != pod.job) jobs.push_back({pod.job, 0});
    ++jobs.back().pods;
  }
  return jobs;
}

}  // namespace

bool is_spared(const PlannedPod& pod, const DrainSettings& settings) {
  if (pod.act == DrainAct::kKeep) return true;
  return pod.act == DrainAct::kWait && pod.is_protected && !settings.overrides_do_not_disrupt;
}

DrainPlan plan_drain(const std::vector<kube::Pod>& pods, const DrainSettings& settings,
                     const DrainScene& scene) {
  DrainPlan plan;
  plan.pods.reserve(pods.size());
  for (const kube::Pod& pod : pods) plan.pods.push_back(plan_pod({pod, settings, scene}));
  keep_those_that_come_again(plan.pods, scene);
  hold_jobs_together(plan.pods);
  std::ranges::sort(plan.pods, {}, [](const PlannedPod& pod) {
    return std::tie(pod.wave, pod.job, pod.ns, pod.name);
  });
  plan.jobs = jobs_of(plan.pods);
  return plan;
}

}  // namespace gpuward::remediator
