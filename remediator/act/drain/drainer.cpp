#include "remediator/act/drain/drainer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The drain is no longer advanced: its Remediation is gone, or another process leads.
constexpr minutes kForgetAfter{10};
// Lists of all drains together: if more are due, each drain is checked less often.
constexpr int kMostListsASecond = 50;
// A drain whose removals wait for the shared rate cannot end yet: it is checked only every so many
// turns, and even less often if the evictor reports when it has sent them.
constexpr int kTurnsWhileWaiting = 4;
constexpr seconds kLookWhileWaiting{60};
constexpr std::size_t kMostNamed = 10;
// The most dry runs before a step, for pods that came since the drain and may stay.
constexpr std::size_t kMostDryRuns = 32;
// A budget that is used up while another pod starts is not reported.
constexpr seconds kHeldIsNewsAfter{30};

// Returns whether one of them was a pod whose removal the server had accepted.
bool forget_absent(RemovalTries& tries, const std::vector<kube::Pod>& pods) {
  std::set<std::string_view> present;
  for (const kube::Pod& pod : pods) present.insert(pod.meta.uid);
  bool has_gone = false;
  std::erase_if(tries, [&](const auto& known) {
    if (present.contains(known.first)) return false;
    has_gone |= known.second.answer == RemovalAnswer::kAccepted;
    return true;
  });
  return has_gone;
}

// Returns whether the removal no longer waits for its turn and its pod was not evicted. A removal
// that has failed in another way may have arrived.
bool was_refused(const RemovalTries& tries, const std::string& uid) {
  const auto known = tries.find(uid);
  if (known == tries.end()) return true;  // it was withdrawn
  const RemovalAnswer answer = known->second.answer;
  return !known->second.is_in_flight &&
         (answer == RemovalAnswer::kBlocked || answer == RemovalAnswer::kRefused ||
          answer == RemovalAnswer::kStopped || answer == RemovalAnswer::kOverloaded);
}

DrainScene scene_of(const DrainRequest& request, Clock::Wall now) {
  return {.now = now,
          .elapsed = request.elapsed,
          .node_is_unreachable = request.node_is_unreachable,
          .own_pod = request.own_pod,
          .began = request.started_at,
          .taints = request.taints,
          .again = &request.again};
}

// Names a pod that came since, may stay, and has a disruption budget that allows no eviction now.
// Empty: none.
Result<std::string> protected_by_budget(kube::Api& api, const DrainPlan& plan) {
  std::size_t asked = 0;
  for (const PlannedPod& pod : plan.pods) {
    if (pod.reason != kToleratesReason || pod.has_ended) continue;
    if (++asked > kMostDryRuns)
      return "more than " + std::to_string(kMostDryRuns) + " pods were created after the drain";
    kube::Eviction trial{pod.ns, pod.name, pod.uid, std::nullopt};
    trial.dry_run = true;
    trial.once = true;
    const auto answer = api.evict(trial);
    switch (answer_of(answer)) {
      case RemovalAnswer::kAccepted:
      case RemovalAnswer::kGone:
        continue;
      case RemovalAnswer::kBlocked:
      case RemovalAnswer::kRefused:
        return "pod " + pod.full_name() +
               " was created after the drain, and its disruption budget does not allow an eviction "
               "now";
      default:
        return with_context("checking whether pod " + pod.full_name() + " may be disrupted",
                            answer.error());
    }
  }
  return std::string();
}

}  // namespace

struct Drainer::Memory {
  std::string node_uid;
  Clock::Wall started_at;
  milliseconds elapsed{0};
  Clock::Steady last_look;
  RemovalTries tries;
  std::set<std::string> notified_jobs;
  std::string listed_at;                    // resourceVersion of the last listing
  std::optional<Clock::Steady> held_since;  // see DrainRound::is_held
  bool is_held_reported = false;
  bool has_seen_removal = false;  // a pod is gone whose removal was accepted
  EvictedAgain again;             // a lower bound: a write of the record may have been refused
  std::map<std::string, std::string> counted;  // see DrainScene::counted

  [[nodiscard]] bool is_newly_held(const DrainRound& round);
  // `again` for the record: another leader may retry refused evictions.
  [[nodiscard]] EvictedAgain to_record(const DrainPlan& plan) const;
};

Drainer::Drainer(kube::Api& api, Evictor& evictor, Clock& clock)
    : api_(api), evictor_(evictor), clock_(clock) {}

Drainer::~Drainer() = default;

Result<DrainProgress> Drainer::advance(const DrainRequest& request) {
  std::unique_ptr<Memory> memory = take_memory(request);
  // Collected before the list, so that the list is newer than the outcomes.
  for (const Evictor::Outcome& outcome : evictor_.collect(request.node)) {
    if (const auto known = memory->tries.find(outcome.uid); known != memory->tries.end())
      record_answer(known->second, outcome.status, memory->elapsed);
  }
  auto progress = look(request, *memory, {.is_cache = true, .not_older_than = memory->listed_at});
  if (!progress || !may_be_believed(*progress, *memory)) progress = look(request, *memory, {});
  if (!progress || progress->verdict == DrainState::kGoingOn) {
    put_back(request.node, std::move(memory));
  } else {
    evictor_.forget(request.node);
  }
  return progress;
}

// No drain ends by a list that may be older than the drain. Lists of one drain only get newer: one
// that lacks a pod that this drain has removed is newer than that removal, and than the cordon.
bool Drainer::may_be_believed(const DrainProgress& progress, const Memory& memory) {
  if (progress.verdict == DrainState::kGoingOn) return true;
  return progress.verdict == DrainState::kDone && memory.has_seen_removal;
}

Result<DrainProgress> Drainer::look(const DrainRequest& request, Memory& memory,
                                    const kube::Api::PodSource& source) {
  auto listing = api_.list_pods_on(request.node, source);
  if (!listing) return with_context("pods of node " + request.node, listing.error());
  memory.listed_at = std::move(listing->resource_version);
  memory.has_seen_removal |= forget_absent(memory.tries, listing->pods);
  DrainProgress progress = progress_of(request, listing->pods, memory);
  if (progress.verdict == DrainState::kGoingOn) return progress;
  if (auto same = check_node(request); !same) return std::unexpected(same.error());
  return progress;
}

// After the list, which may be of another node's pods.
Status Drainer::check_node(const DrainRequest& request) {
  const auto node = api_.get_node(request.node);
  if (node && node->meta.uid == request.node_uid) return {};
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  return fail(ErrorKind::kConflict,
              "node " + request.node + " is " + (node ? "now a different node" : "gone"));
}

DrainProgress Drainer::progress_of(const DrainRequest& request, const std::vector<kube::Pod>& pods,
                                   Memory& memory) {
  for (const auto& [owner, count] : request.again)
    memory.again[owner] = std::max(memory.again[owner], count);
  DrainScene scene = scene_of(request, clock_.wall());
  scene.again = &memory.again;
  scene.counted = &memory.counted;
  const DrainPlan plan = plan_drain(pods, request.settings, scene);
  withdraw_unwanted(request, plan, memory);
  DrainRound round = make_round(plan, memory.tries, request.settings, scene);
  DrainProgress progress;
  const auto starting = send(request, round, plan, memory);
  progress.again = memory.to_record(plan);
  std::ranges::copy_if(plan.jobs, std::back_inserter(progress.starting_jobs),
                       [&](const AffectedJob& job) { return starting.contains(job.name); });
  progress.verdict = round.verdict;
  progress.summary = std::move(round.summary);
  progress.left = std::move(round.left);
  progress.is_newly_held = memory.is_newly_held(round);
  progress.look_again = look_again(request, round, memory);
  return progress;
}

bool Drainer::Memory::is_newly_held(const DrainRound& round) {
  if (!round.is_held) held_since.reset();
  if (!round.is_held || is_held_reported) return false;
  if (!held_since) held_since = last_look;
  is_held_reported = last_look - *held_since >= kHeldIsNewsAfter;
  return is_held_reported;
}

EvictedAgain Drainer::Memory::to_record(const DrainPlan& plan) const {
  EvictedAgain recorded = again;
  for (const PlannedPod& pod : plan.pods) {
    const auto known = counted.find(pod.uid);
    if (known == counted.end() || pod.act == DrainAct::kTerminating || !was_refused(tries, pod.uid))
      continue;
    const auto count = recorded.find(known->second);
    if (count != recorded.end() && --count->second <= 0) recorded.erase(count);
  }
  return recorded;
}

// A removal may wait long for the rate of all drains. If its pod must not be evicted any more, by
// its owner's annotation or the policy, it is withdrawn, as is a deletion of a pod that may only be
// evicted. After the deadline the rounds decide.
void Drainer::withdraw_unwanted(const DrainRequest& request, const DrainPlan& plan,
                                Memory& memory) {
  const bool is_late = memory.elapsed >= request.settings.deadline;
  const auto is_wanted = [&](const Removal& removal) {
    if (is_late) return true;
    const auto pod = std::ranges::find(plan.pods, removal.pod.uid, &PlannedPod::uid);
    if (pod == plan.pods.end()) return false;
    return pod->act == DrainAct::kDelete ||
           (pod->act == DrainAct::kEvict && removal.way == RemovalWay::kEvict);
  };
  for (const std::string& uid : evictor_.withdraw(request.node, is_wanted)) memory.tries.erase(uid);
}

std::set<std::string> Drainer::send(const DrainRequest& request, const DrainRound& round,
                                    const DrainPlan& plan, Memory& memory) {
  std::set<std::string> starting;
  for (const Removal& removal : round.send) {
    RemovalTry& known = memory.tries[removal.pod.uid];
    if (!evictor_.submit(request.node, removal, request.permit)) continue;
    known.way = removal.way;
    known.is_in_flight = true;
    const auto pod = std::ranges::find(plan.pods, removal.pod.uid, &PlannedPod::uid);
    const bool counts = pod != plan.pods.end() && pod->is_newcomer && !pod->has_ended;
    if (counts && memory.counted.emplace(pod->uid, pod->owner).second) ++memory.again[pod->owner];
    if (!removal.job.empty() && memory.notified_jobs.insert(removal.job).second)
      starting.insert(removal.job);
  }
  return starting;
}

Result<std::optional<DrainUndone>> Drainer::undone(
    const DrainRequest& request, const std::optional<kube::WallTime>& accepted_until) {
  auto listing = api_.list_pods_on(request.node, {});
  if (!listing) return with_context("pods of node " + request.node, listing.error());
  if (auto same = check_node(request); !same) return std::unexpected(same.error());
  // The step of a Job of gpuward's own ends that Job.
  std::erase_if(listing->pods,
                [](const kube::Pod& pod) { return pod.meta.labels.contains("gpuward.dev/step"); });
  std::set<std::string_view> accepted;
  for (const kube::Pod& pod : listing->pods) {
    if (accepted_until && pod.meta.created &&
        *pod.meta.created < std::chrono::floor<seconds>(*accepted_until))
      accepted.insert(pod.meta.uid);
  }
  const DrainPlan plan =
      plan_drain(listing->pods, request.settings, scene_of(request, clock_.wall()));
  std::vector<std::string> left;
  for (const PlannedPod& pod : plan.pods) {
    const bool stays = pod.act == DrainAct::kSkip || pod.has_ended;
    const bool is_accepted = accepted.contains(pod.uid) && pod.act != DrainAct::kRefuse &&
                             !is_spared(pod, request.settings);
    if (!stays && !is_accepted) left.push_back(pod.full_name());
  }
  if (!left.empty()) {
    const std::size_t count = left.size();
    left.resize(std::min(count, kMostNamed));
    return DrainUndone{.summary = "pods were created after the drain: " + list_first(left, count),
                       .can_be_drained = true};
  }
  const auto budget = protected_by_budget(api_, plan);
  if (!budget) return std::unexpected(budget.error());
  if (budget->empty()) return std::nullopt;
  return DrainUndone{.summary = *budget};
}

std::unique_ptr<Drainer::Memory> Drainer::take_memory(const DrainRequest& request) {
  const Clock::Steady now = clock_.steady();
  forget_old(now);
  auto memory = extract_memory(request.node);
  if (!memory || memory->node_uid != request.node_uid || memory->started_at != request.started_at) {
    evictor_.forget(request.node);
    memory = std::make_unique<Memory>();
    memory->node_uid = request.node_uid;
    memory->started_at = request.started_at;
  }
  memory->elapsed = request.elapsed;
  memory->last_look = now;
  return memory;
}

std::unique_ptr<Drainer::Memory> Drainer::extract_memory(const std::string& node) {
  const std::lock_guard lock(mutex_);
  const auto known = memories_.extract(node);
  return known ? std::move(known.mapped()) : nullptr;
}

void Drainer::forget_old(Clock::Steady now) {
  std::vector<std::string> old;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [node, memory] : memories_) {
      if (memory->last_look + kForgetAfter < now) old.push_back(node);
    }
  }
  for (const std::string& node : old) forget(node);
}

milliseconds Drainer::look_again(const DrainRequest& request, const DrainRound& round,
                                 const Memory& memory) const {
  const milliseconds turn = milliseconds(1'000) * remembered() / kMostListsASecond;
  if (!evictor_.has_unanswered(request.node)) return std::max(round.look_again, turn);
  if (!evictor_.tells()) return std::max(round.look_again, turn * kTurnsWhileWaiting);
  const milliseconds left = request.settings.deadline - memory.elapsed;
  const milliseconds longest = left.count() > 0 ? std::min<milliseconds>(left, kLookWhileWaiting)
                                                : milliseconds(kLookWhileWaiting);
  return std::max({round.look_again, turn, longest});
}

void Drainer::put_back(const std::string& node, std::unique_ptr<Memory> memory) {
  const std::lock_guard lock(mutex_);
  memories_.insert_or_assign(node, std::move(memory));
}

void Drainer::forget(const std::string& node) {
  (void)extract_memory(node);
  evictor_.forget(node);
}

std::size_t Drainer::remembered() const {
  const std::lock_guard lock(mutex_);
  return memories_.size();
}

}  // namespace gpuward::remediator
