#include "remediator/execution/case.h"

#include <algorithm>

#include "core/kube/names.h"
#include "remediator/budgets/ledger.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/policy/policy_for_remediation.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// How old the list of exclusions may be for a change that is not disruptive.
constexpr milliseconds kExclusionAge{15'000};

// The node as it was when the Remediation was opened.
kube::Node remembered_node(const Remediation& remediation) {
  kube::Node node;
  node.meta.name = remediation.node;
  node.meta.uid = remediation.node_uid;
  node.boot_id = remediation.boot_id;
  node.provider_id = remediation.instance_id;
  return node;
}

Case case_of(Remediation remediation, std::optional<kube::Node> node,
             std::shared_ptr<const Policy> policy) {
  Case now{.remediation = std::move(remediation),
           .node = std::move(node),
           .target = {},
           .policy = std::move(policy)};
  now.policy = policy_for(std::move(now.policy), now.node ? &*now.node : nullptr, now.remediation);
  const bool is_same = now.node && now.node->meta.uid == now.remediation.node_uid;
  now.target = is_same ? *now.node : remembered_node(now.remediation);
  return now;
}

// A decision asks at most for a report, the alerts, the proofs, whether the machine is worn out,
// the guard of approvals and a slot.
constexpr int kMostAnswers = 7;
// How old the check of the approval guard may be while no approval is given.
constexpr milliseconds kGuardAge{15'000};

// Called before a disruptive step: the attempts on a GPU follow the GPU to another machine.
void remember_gpus(const Result<HealthReport>& report, Remediation& remediation) {
  if (!report || report->boot_id != remediation.boot_id) return;
  std::vector<std::string>& known = remediation.status.gpus;
  for (const std::string& gpu : report->gpus) {
    const bool is_known = std::ranges::find(known, gpu) != known.end();
    if (!is_known && known.size() < kMaxSerials) known.push_back(gpu);
  }
  // Another node has claimed them since.
  std::erase_if(known, [&](const std::string& gpu) {
    return std::ranges::find(report->contested_gpus, gpu) != report->contested_gpus.end();
  });
}

// Whether the informers' last report is enough to act on: every write that follows is a
// compare-and-set on it, and an eviction of a running drain asks again before it is sent. Any other
// disruptive step, and a return to service, needs a fresh read.
bool may_go_by_memory(const Decision& decision, const Remediation& remediation,
                      const kube::Node& node) {
  switch (decision.verdict) {
    case Verdict::kRecord:
    case Verdict::kQuarantine:
    case Verdict::kHold:
    case Verdict::kWatch:
      return true;
    case Verdict::kAskSlot:
      // A taint that was only remembered may be gone: the budget must not count it.
      return is_taint_or_cordon(decision.step->step) &&
             (!our_taint_on(node) || remediation.status.has_done(Step::kTaint));
    case Verdict::kPause:
    case Verdict::kAskReport:
    case Verdict::kAskAlerts:
    case Verdict::kAskProofs:
    case Verdict::kAskGuard:
    case Verdict::kAskWornOut:
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

std::optional<Case> CaseReader::recall(const std::string& name,
                                       std::shared_ptr<const Policy> policy) {
  if (is_distrusted(name)) return std::nullopt;
  auto remediation = last_remediation(parts_.view, name);
  if (!remediation || !remediation->open()) return std::nullopt;
  const auto node = last_node(parts_.view, remediation->node);
  if (!node) return std::nullopt;
  Case now = case_of(std::move(*remediation), *node, std::move(policy));
  if (!look_up_exclusion(now, kExclusionAge)) return std::nullopt;
  return now;
}

Result<std::optional<FreshCase>> CaseReader::read(const std::string& name,
                                                  std::shared_ptr<const Policy> policy) {
  auto remediation = parts_.store.read(name);
  if (!remediation) {
    if (remediation.error().kind != ErrorKind::kNotFound)
      return std::unexpected(remediation.error());
    parts_.view.remove_remediation(name);
    return std::nullopt;
  }
  parts_.view.put_remediation(*remediation);
  if (!remediation->open())
    return FreshCase(case_of(std::move(*remediation), std::nullopt, std::move(policy)));
  if (auto valid = kube::validate_node_name(remediation->node); !valid)
    return std::unexpected(valid.error());
  auto node = parts_.api.get_node(remediation->node);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node) {
    if (auto known = look_up_named(*node, name); !known) return std::unexpected(known.error());
  }
  trust(name);
  FreshCase now(case_of(std::move(*remediation),
                        node ? std::optional(std::move(*node)) : std::nullopt, std::move(policy)));
  if (auto known = look_up_exclusion(*now, milliseconds(0)); !known)
    return std::unexpected(known.error());
  return now;
}

// The view may not know yet that the Remediation named in the node's annotation is open: taint and
// cordon would then look like leftovers.
Status CaseReader::look_up_named(const kube::Node& node, const std::string& reading) {
  const auto mark = owner_annotation_on(node);
  if (!mark || mark->name == reading) return {};
  auto named = parts_.store.read(mark->name);
  if (named) {
    parts_.view.put_remediation(*std::move(named));
    return {};
  }
  // The annotation may hold an invalid name, or the record may be broken: neither has a Remediation
  // that acts.
  const bool is_none =
      named.error().kind == ErrorKind::kNotFound || named.error().kind == ErrorKind::kInvalid;
  if (!is_none) return std::unexpected(named.error());
  parts_.view.remove_remediation(mark->name);
  return {};
}

// A disruptive step needs the present list; other changes accept one that is a moment old.
Status CaseReader::look_up_exclusion(Case& now, milliseconds max_age) {
  if (parts_.exclusions == nullptr || !now.node) return {};
  const auto list = parts_.exclusions->read(max_age);
  if (!list) return std::unexpected(list.error());
  now.excluded = exclusion_for(*list, *now.node, parts_.clock.wall());
  return {};
}

Result<Remediation> CaseReader::read_wish(const std::string& name) {
  auto current = parts_.store.read(name);
  if (!current) return with_context("reading the Remediation before a change", current.error());
  if (current->wish.pause)
    return fail(ErrorKind::kCancelled, "an operator has paused the remediation");
  if (current->wish.cancel)
    return fail(ErrorKind::kCancelled, "an operator has cancelled the remediation");
  // A call may outlive its step, such as an eviction that waits for its turn.
  if (!current->open()) return fail(ErrorKind::kCancelled, "the remediation is closed");
  return current;
}

void CaseReader::distrust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(name);
}

bool CaseReader::is_distrusted(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return distrusted_.contains(name);
}

void CaseReader::trust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
}

bool CaseDecider::decide_cached(Case& now) const {
  const auto may_go_on = [&] { return may_go_by_memory(now.decision, now.remediation, *now.node); };
  decide_with_answers(now, may_go_on);
  return may_go_on();
}

void CaseDecider::decide_fresh(FreshCase& now) const {
  decide_with_answers(*now, [] { return true; });
}

Decision CaseDecider::decide_after(const Case& now, const RemediationStatus& next) const {
  Case then = now;
  then.remediation.status = next;
  return decide(*then.policy, inputs_of(then), parts_.clock.wall());
}

template <typename MayGoOn>
void CaseDecider::decide_with_answers(Case& now, const MayGoOn& may_go_on) const {
  const WallTime since = parts_.clock.wall() - kTaintsFirst;
  const std::string& node = now.remediation.node;
  const bool is_young = now.remediation.created >= since;
  const bool has_unrecorded = has_unrecorded_since(parts_.view, since, node);
  now.are_others_unrecorded = is_young && has_unrecorded;
  now.are_others_untainted = is_young && has_untainted_since(parts_.view, since, node);
  DecisionInputs inputs = inputs_of(now);
  inputs.has_untainted_elsewhere = has_unrecorded;
  now.decision = decide(*now.policy, inputs, parts_.clock.wall());
  for (int i = 0; i < kMostAnswers && may_go_on() && ask(now.decision, now, inputs); ++i)
    now.decision = decide(*now.policy, inputs, parts_.clock.wall());
}

// Returns false if `asked` needs no answer.
bool CaseDecider::ask(const Decision& asked, Case& now, DecisionInputs& inputs) const {
  const std::string& node = now.remediation.node;
  if (asked.verdict == Verdict::kAskReport) {
    inputs.report = report_of(node);
    remember_gpus(*inputs.report, now.remediation);
    if (*inputs.report) now.report = **inputs.report;
    if (*inputs.report && now.remediation.is_drill())
      *inputs.report = with_drill(**std::move(inputs.report));
  } else if (asked.verdict == Verdict::kAskAlerts) {
    inputs.alerts = parts_.alerts->active_on(node);
    if (!*inputs.alerts) parts_.observer.on_error(node, inputs.alerts->error());
  } else if (asked.verdict == Verdict::kAskProofs) {
    inputs.proofs = parts_.proofs->read(*now.node);
  } else if (asked.verdict == Verdict::kAskGuard) {
    const bool is_answered = !now.remediation.wish.approved_token.empty();
    inputs.guard = parts_.guard->check(is_answered ? milliseconds(0) : kGuardAge);
  } else if (asked.verdict == Verdict::kAskWornOut) {
    inputs.worn_out = parts_.slots.worn_out(now.remediation, *now.node, asked.step->step);
    if (!*inputs.worn_out) parts_.observer.on_error(node, inputs.worn_out->error());
  } else if (asked.verdict == Verdict::kAskSlot) {
    inputs.slot = parts_.slots.take(now.remediation, *now.node, asked.step->step);
    now.has_asked_slot = true;
    if (!*inputs.slot) parts_.observer.on_error(node, inputs.slot->error());
  } else {
    return false;
  }
  return true;
}

Status CaseDecider::count_arrival(const Case& now) const {
  if (now.has_asked_slot || now.policy->mode == Mode::kObserve || !is_arrival(now.remediation))
    return {};
  return parts_.slots.arrived(now.remediation);
}

// Returns the name of another Remediation of the same node that acts while this one waits.
std::string CaseDecider::goes_first_of(const Case& now) const {
  if (!now.node || now.node->meta.uid != now.remediation.node_uid) return {};
  for (const Remediation& other : others_open(parts_.view, now.remediation)) {
    if (goes_first(other, now.remediation, *now.node)) return other.name;
  }
  return {};
}

// Returns the name of a closed Remediation of the same node whose cordon the node still has.
std::string CaseDecider::left_cordon_of(const Case& now) const {
  if (!now.node || !now.node->unschedulable) return {};
  const auto records = remediations_of(parts_.view, now.node->meta.uid);
  const Remediation* const left = left_cordon(records, *now.node);
  return left == nullptr ? "" : left->name;
}

// The inputs before any question was answered.
DecisionInputs CaseDecider::inputs_of(const Case& now) const {
  return {.remediation = now.remediation,
          .node = now.node ? &*now.node : nullptr,
          .excluded = now.excluded,
          .goes_first = goes_first_of(now),
          .left_cordon = left_cordon_of(now),
          .has_untainted_elsewhere = false,
          .report = {},
          .can_ask_alerts = parts_.alerts != nullptr,
          .alerts = {},
          .can_ask_proofs = parts_.proofs != nullptr,
          .proofs = {},
          .can_ask_guard = parts_.guard != nullptr,
          .guard = {},
          .slot = {}};
}

Result<HealthReport> CaseDecider::report_of(const std::string& node) const {
  if (parts_.reports == nullptr) {
    return fail(ErrorKind::kNotFound, "--prometheus.url is not set");
  }
  auto report = parts_.reports->latest(node);
  // The status only says that there is no report; the details are for the log.
  const bool is_news = !report && report.error().kind != ErrorKind::kNotFound &&
                       report.error().kind != ErrorKind::kOverloaded;
  if (is_news) parts_.observer.on_error(node, report.error());
  return report;
}

}  // namespace gpuward::remediator
