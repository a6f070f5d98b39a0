// What the reconciler looks at and decides on; reconciler_acts.cpp carries it out.
#include "remediator/workflow/reconciler.h"

#include <algorithm>
#include <utility>

#include "core/kube/names.h"
#include "remediator/safety/ledger.h"
#include "remediator/safety/node_mark.h"
#include "remediator/safety/ownership.h"
#include "remediator/workflow/reconciler_case.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// As it was when the Remediation was opened.
kube::Node remembered_node(const Remediation& remediation) {
  kube::Node node;
  node.meta.name = remediation.node;
  node.meta.uid = remediation.node_uid;
  node.boot_id = remediation.boot_id;
  node.provider_id = remediation.instance_id;
  return node;
}

// Before anything is taken away for them: what was tried on a GPU goes where the GPU goes.
void remember_gpus(const Result<HealthReport>& report, Remediation& remediation) {
  if (!report || report->boot_id != remediation.boot_id) return;
  std::vector<std::string>& known = remediation.status.gpus;
  for (const std::string& gpu : report->gpus) {
    const bool is_known = std::ranges::find(known, gpu) != known.end();
    if (!is_known && known.size() < kMaxSerials) known.push_back(gpu);
  }
  // Somebody else has claimed them since.
  std::erase_if(known, [&](const std::string& gpu) {
    return std::ranges::find(report->contested_gpus, gpu) != report->contested_gpus.end();
  });
}

// No decision asks for more than a report, the alerts, the guard of approvals and a slot.
constexpr int kMostAnswers = 5;
// How long ago approvals may have been seen to be guarded where nobody has given one yet.
constexpr milliseconds kGuardAge{15'000};
// How old the list of exclusions may be where nothing is taken away from anybody.
constexpr milliseconds kExclusionAge{15'000};
// How long a node that went bad at the same moment may take to be marked.
constexpr milliseconds kMarksFirst{30'000};
// How soon after an act its node's report is looked at.
constexpr milliseconds kWeighAfter{5'000};

// Whether what the informers have last seen is enough to go by: every write that follows is a
// compare-and-set on it, and an eviction of a drain that goes on asks again before it is sent.
// Whatever else takes something away from somebody, or gives it back, is decided on what is true
// now.
bool may_go_by_memory(const Decision& decision, const Remediation& remediation,
                      const kube::Node& node) {
  switch (decision.verdict) {
    case Verdict::kRecord:
    case Verdict::kQuarantine:
    case Verdict::kHold:
    case Verdict::kWatch:
      return true;
    case Verdict::kAskSlot:
      // A taint that was only remembered may be gone: the budget must not count it as there.
      return is_mark(decision.step->step) &&
             (!our_taint_on(node) || remediation.status.has_done(Step::kTaint));
    case Verdict::kPause:
    case Verdict::kAskReport:
    case Verdict::kAskAlerts:
    case Verdict::kAskGuard:
    case Verdict::kBegin:
    case Verdict::kEscalate:
    case Verdict::kLower:
    case Verdict::kRelease:
    case Verdict::kClose:
      return false;
  }
  return false;
}

}  // namespace

Result<std::optional<milliseconds>> Reconciler::reconcile(const std::string& node) {
  std::optional<milliseconds> soonest;
  const auto policy = parts_.policy.get();
  for (const std::string& name : parts_.view.open_for(node)) {
    const auto look_again = reconcile_one(name, policy);
    if (!look_again) {
      distrust(name);
      return with_context("remediation " + name, look_again.error());
    }
    if (*look_again) soonest = std::min(soonest.value_or(**look_again), **look_again);
  }
  return soonest;
}

Result<std::optional<milliseconds>> Reconciler::reconcile_one(
    const std::string& name, const std::shared_ptr<const Policy>& policy) {
  if (waits_for_marks(name)) return kStormInterval;
  if (auto now = recall(name, policy); now && look_up_exclusion(*now)) {
    now->decision = decide_with_answers(*now);
    if (may_go_by_memory(now->decision, now->remediation, *now->node)) return go_on(*now);
  }
  auto now = read(name, policy);
  if (!now) return std::unexpected(now.error());
  if (!*now) return std::nullopt;
  if (!(*now)->remediation.open()) return see_off(**now);
  if (auto known = look_up_exclusion(**now); !known) return std::unexpected(known.error());
  (*now)->decision = decide_with_answers(**now);
  return go_on(**now);
}

// Before harm, when all is read afresh, as it is; else as it was a moment ago.
Status Reconciler::look_up_exclusion(Case& now) {
  if (parts_.exclusions == nullptr || !now.node) return {};
  const auto list =
      parts_.exclusions->read(now.is_remembered ? kExclusionAge : std::chrono::milliseconds(0));
  if (!list) return std::unexpected(list.error());
  now.excluded = exclusion_for(*list, *now.node, parts_.clock.wall());
  return {};
}

// A failure may come of a view that is old: the next look is at what is true.
void Reconciler::distrust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(name);
}

// Both as they were last seen; nullopt where that is not enough to decide anything.
std::optional<Reconciler::Case> Reconciler::recall(const std::string& name,
                                                   std::shared_ptr<const Policy> policy) {
  {
    const std::lock_guard lock(mutex_);
    if (distrusted_.contains(name)) return std::nullopt;
  }
  auto remediation = parts_.view.last_remediation(name);
  if (!remediation || !remediation->open()) return std::nullopt;
  const auto node = parts_.view.last_node(remediation->node);
  if (!node) return std::nullopt;
  Case now = case_of(std::move(*remediation), *node, std::move(policy));
  now.is_remembered = true;
  return now;
}

// nullopt: the Remediation is gone.
Result<std::optional<Reconciler::Case>> Reconciler::read(const std::string& name,
                                                         std::shared_ptr<const Policy> policy) {
  auto remediation = parts_.store.read(name);
  if (!remediation) {
    if (remediation.error().kind != ErrorKind::kNotFound)
      return std::unexpected(remediation.error());
    parts_.view.remove_remediation(name);
    forget(name);
    return std::nullopt;
  }
  parts_.view.put_remediation(*remediation);
  if (!remediation->open()) {
    forget(name);
    return case_of(std::move(*remediation), std::nullopt, std::move(policy));
  }
  if (auto valid = kube::validate_node_name(remediation->node); !valid)
    return std::unexpected(valid.error());
  auto node = parts_.api.get_node(remediation->node);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node) {
    if (auto known = look_up_named(*node, name); !known) return std::unexpected(known.error());
  }
  trust(name);
  return case_of(std::move(*remediation), node ? std::optional(std::move(*node)) : std::nullopt,
                 std::move(policy));
}

// The view may not know yet that the Remediation is open which the node's annotation names: then
// taint and cordon would be taken for a leftover.
Status Reconciler::look_up_named(const kube::Node& node, const std::string& reading) {
  const auto mark = mark_on(node);
  if (!mark || mark->name == reading) return {};
  auto named = parts_.store.read(mark->name);
  if (named) {
    parts_.view.put_remediation(*std::move(named));
    return {};
  }
  // What somebody wrote there may be no name, and a record may be broken: nobody acts for either.
  const bool is_none =
      named.error().kind == ErrorKind::kNotFound || named.error().kind == ErrorKind::kInvalid;
  if (!is_none) return std::unexpected(named.error());
  parts_.view.remove_remediation(mark->name);
  return {};
}

void Reconciler::trust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
}

void Reconciler::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
  said_at_.erase(name);
  to_record_.erase(name);
}

// Nothing has changed since its record was put off, and nothing has become of what it waits for.
bool Reconciler::waits_for_marks(const std::string& name) {
  const WallTime since = parts_.clock.wall() - kMarksFirst;
  std::optional<ToRecord> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = to_record_.find(name);
    if (found != to_record_.end() && !distrusted_.contains(name)) known = found->second;
  }
  return known && known->opened >= since && parts_.view.has_unmarked_since(since, known->node) &&
         parts_.view.are_at(name, known->version, known->node_version);
}

Reconciler::Case Reconciler::case_of(Remediation remediation, std::optional<kube::Node> node,
                                     std::shared_ptr<const Policy> policy) {
  Case now{.remediation = std::move(remediation),
           .node = std::move(node),
           .target = {},
           .policy = std::move(policy)};
  if (now.node) now.policy = policy_for(std::move(now.policy), now.node->meta.labels);
  const bool is_same = now.node && now.node->meta.uid == now.remediation.node_uid;
  now.target = is_same ? *now.node : remembered_node(now.remediation);
  return now;
}

Result<std::optional<milliseconds>> Reconciler::go_on(Case& now) {
  if (auto counted = count_arrival(now); !counted) return std::unexpected(counted.error());
  const std::string seen = now.remediation.resource_version;
  if (auto status = carry_out(now); !status) return std::unexpected(status.error());
  if (!now.remediation.open()) {
    forget(now.remediation.name);
    // What a crash keeps from being given back here, the keeper of the ledger gives back later.
    if (auto status = parts_.slots.give_back(now.remediation); !status)
      parts_.observer.on_error(now.remediation.node, status.error());
    return see_off(now);
  }
  if (auto status = tell_human(now); !status) return std::unexpected(status.error());
  // What must be done about other nodes goes before what is only good to know of this one.
  const bool weighs_later =
      (now.remediation.resource_version != seen || now.are_others_unrecorded) &&
      weighs_evidence(now);
  if (!weighs_later) {
    if (auto status = weigh_evidence(now); !status) return std::unexpected(status.error());
  }
  // The first word has the class of the error in it, which the exporter knows.
  if (!weighs_later || !now.remediation.status.error_class.empty()) {
    if (auto status = tell_sinks(now); !status) return std::unexpected(status.error());
  }
  if (!weighs_later) return now.decision.look_again;
  return std::min(now.decision.look_again.value_or(kWeighAfter), kWeighAfter);
}

Result<std::optional<milliseconds>> Reconciler::see_off(Case& now) {
  if (auto status = tell_sinks(now); !status) return std::unexpected(status.error());
  return let_go(now.remediation);
}

Result<std::optional<milliseconds>> Reconciler::let_go(const Remediation& closed) {
  if (!closed.must_be_let_go()) return std::nullopt;
  const auto gone = parts_.store.let_go(closed);
  if (!gone && gone.error().kind != ErrorKind::kNotFound) return std::unexpected(gone.error());
  return std::nullopt;
}

// Before anything is done for it; said again until the first step is recorded. Who asks for a slot
// says it with that.
Status Reconciler::count_arrival(const Case& now) {
  if (now.has_asked_slot || now.policy->mode == Mode::kObserve || !is_arrival(now.remediation))
    return {};
  return parts_.slots.arrived(now.remediation);
}

// The name of another Remediation of the same node that acts while this one waits.
std::string Reconciler::goes_first_of(const Case& now) const {
  if (!now.node || now.node->meta.uid != now.remediation.node_uid) return {};
  for (const Remediation& other : parts_.view.others_open(now.remediation)) {
    if (goes_first(other, now.remediation, *now.node)) return other.name;
  }
  return {};
}

// As it is before anything was asked.
World Reconciler::world_of(const Case& now) const {
  return {.remediation = now.remediation,
          .node = now.node ? &*now.node : nullptr,
          .excluded = now.excluded,
          .goes_first = goes_first_of(now),
          .has_unmarked_elsewhere = false,
          .report = {},
          .can_ask_alerts = parts_.alerts != nullptr,
          .alerts = {},
          .can_ask_guard = parts_.guard != nullptr,
          .guard = {},
          .slot = {}};
}

Decision Reconciler::decide_with_answers(Case& now) {
  const WallTime since = parts_.clock.wall() - kMarksFirst;
  const std::string& node = now.remediation.node;
  const bool is_young = now.remediation.created >= since;
  const bool has_unrecorded = parts_.view.has_unrecorded_since(since, node);
  now.are_others_unrecorded = is_young && has_unrecorded;
  now.are_others_unmarked = is_young && parts_.view.has_unmarked_since(since, node);
  World world = world_of(now);
  world.has_unmarked_elsewhere = has_unrecorded;
  Decision decision = decide(*now.policy, world, parts_.clock.wall());
  for (int i = 0; i < kMostAnswers; ++i) {
    if (now.is_remembered && !may_go_by_memory(decision, now.remediation, *now.node)) break;
    if (decision.verdict == Verdict::kAskReport) {
      world.report = report_of(now.remediation.node);
      remember_gpus(*world.report, now.remediation);
      if (*world.report) now.report = **world.report;
    } else if (decision.verdict == Verdict::kAskAlerts) {
      world.alerts = parts_.alerts->fingerprints();
      if (!*world.alerts) parts_.observer.on_error(now.remediation.node, world.alerts->error());
    } else if (decision.verdict == Verdict::kAskGuard) {
      const bool is_answered = !now.remediation.wish.approved_token.empty();
      world.guard = parts_.guard->check(is_answered ? milliseconds(0) : kGuardAge);
    } else if (decision.verdict == Verdict::kAskSlot) {
      world.slot = parts_.slots.take(now.remediation, *now.node, decision.step->step);
      now.has_asked_slot = true;
      if (!*world.slot) parts_.observer.on_error(now.remediation.node, world.slot->error());
    } else {
      break;
    }
    decision = decide(*now.policy, world, parts_.clock.wall());
  }
  return decision;
}

Result<HealthReport> Reconciler::report_of(const std::string& node) {
  if (parts_.reports == nullptr) {
    return fail(ErrorKind::kNotFound, "no --prometheus.url is set to read it from");
  }
  auto report = parts_.reports->latest(node);
  // The status says only that there is none; the details are for the log.
  const bool is_news = !report && report.error().kind != ErrorKind::kNotFound &&
                       report.error().kind != ErrorKind::kOverloaded;
  if (is_news) parts_.observer.on_error(node, report.error());
  return report;
}

}  // namespace gpuward::remediator
