#include "remediator/act/case.h"

#include <algorithm>

#include "core/kube/names.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"
#include "remediator/policy/policy_for_remediation.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// Largest age of the list of exclusions for a change that is not disruptive.
constexpr milliseconds kExclusionAge{15'000};

// Returns the node as it was when the Remediation was opened.
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

// Largest age of the check of the approval guard while no approval is given.
constexpr milliseconds kGuardAge{15'000};

// Records the GPUs before a disruptive step, because the attempts on a GPU follow the GPU to
// another machine.
void remember_gpus(const Result<HealthReport>& report, Remediation& remediation) {
  if (!report || report->boot_id != remediation.boot_id) return;
  std::vector<std::string>& known = remediation.status.gpus;
  for (const std::string& gpu : report->gpus) {
    const bool is_known = std::ranges::find(known, gpu) != known.end();
    if (!is_known && known.size() < kMaxSerials) known.push_back(gpu);
  }
  // Removes GPUs that another node has claimed since.
  std::erase_if(known, [&](const std::string& gpu) {
    return std::ranges::find(report->contested_gpus, gpu) != report->contested_gpus.end();
  });
}

// Gives no answer, and notes that decide() asked a question. The decision then does not count.
class NoAnswers : public Answers {
 public:
  [[nodiscard]] bool was_asked() const { return was_asked_; }

  Result<HealthReport> report() override { return refuse(); }
  std::optional<Result<Alerts>> alerts() override { return refuse(); }
  Result<MachineProofs> proofs() override { return refuse(); }
  Status approval_guard() override { return refuse(); }
  Slot worn_out(Step /*step*/) override { return refuse(); }
  Slot slot(Step /*step*/) override { return refuse(); }

 protected:
  std::unexpected<Error> refuse() {
    was_asked_ = true;
    return fail(ErrorKind::kInternal, "not read for this decision");
  }

 private:
  bool was_asked_ = false;
};

// The answers for a decision on the informers' last state: only a slot for taint or cordon. It
// cannot read the data that a disruptive step or a return to service needs.
class RememberedAnswers final : public NoAnswers {
 public:
  // The arguments must outlive the answers.
  RememberedAnswers(Slots& slots, ReconcileObserver& observer, Case& now)
      : slots_(slots), observer_(observer), now_(now) {}

  Slot slot(Step step) override {
    // Takes no slot for a decision that does not count. A taint from memory may already be removed,
    // so the budget must not count it either.
    const bool may_ask =
        !was_asked() && is_taint_or_cordon(step) &&
        (!our_taint_on(*now_.node) || now_.remediation.status.has_done(Step::kTaint));
    if (!may_ask) return refuse();
    now_.has_asked_slot = true;
    auto answer = slots_.take(now_.remediation, *now_.node, step);
    if (!answer) observer_.on_error(now_.remediation.node, answer.error());
    return answer;
  }

 private:
  Slots& slots_;
  ReconcileObserver& observer_;
  Case& now_;
};

// Reads the answers from the other services, and stores a report in the case.
class FreshAnswers final : public Answers {
 public:
  // The arguments must outlive the answers.
  FreshAnswers(const ReconcilerParts& parts, const CaseDecider& decider, Case& now)
      : parts_(parts), decider_(decider), now_(now) {}

  Result<HealthReport> report() override {
    auto report = decider_.report_of(node());
    remember_gpus(report, now_.remediation);
    if (report) now_.report = *report;
    if (report && now_.remediation.is_drill()) return with_drill(*std::move(report));
    return report;
  }
  std::optional<Result<Alerts>> alerts() override {
    if (parts_.alerts == nullptr) return std::nullopt;
    return noted(parts_.alerts->active_on(node()));
  }
  Result<MachineProofs> proofs() override {
    if (parts_.proofs == nullptr)
      return fail(ErrorKind::kNotFound, "no proof that the machine is down");
    return parts_.proofs->read(*now_.node);
  }
  Status approval_guard() override {
    if (parts_.guard == nullptr) return {};
    const bool is_answered = !now_.remediation.wish.approved_token.empty();
    return parts_.guard->check(is_answered ? milliseconds(0) : kGuardAge);
  }
  Slot worn_out(Step step) override {
    return noted(parts_.slots.worn_out(now_.remediation, *now_.node, step));
  }
  Slot slot(Step step) override {
    now_.has_asked_slot = true;
    return noted(parts_.slots.take(now_.remediation, *now_.node, step));
  }

 private:
  [[nodiscard]] const std::string& node() const { return now_.remediation.node; }
  template <typename Value>
  Result<Value> noted(Result<Value> answer) {
    if (!answer) parts_.observer.on_error(node(), answer.error());
    return answer;
  }

  const ReconcilerParts& parts_;
  const CaseDecider& decider_;
  Case& now_;
};

// Returns whether a decision on the informers' last state may be carried out. Every write that
// follows is a compare-and-set on that state, and an eviction of a running drain calls its permit
// before it is sent.
bool may_rest_on_memory(Verdict verdict) {
  return verdict == Verdict::kRecord || verdict == Verdict::kQuarantine ||
         verdict == Verdict::kHold || verdict == Verdict::kWatch;
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

// Reads the Remediation in the node's annotation, because the view may not have it yet. Taint and
// cordon would then look like leftovers.
Status CaseReader::look_up_named(const kube::Node& node, const std::string& reading) {
  const auto mark = owner_annotation_on(node);
  if (!mark || mark->name == reading) return {};
  auto named = parts_.store.read(mark->name);
  if (named) {
    parts_.view.put_remediation(*std::move(named));
    return {};
  }
  // The annotation has an invalid name, or the record cannot be parsed, so no Remediation acts.
  const bool is_none =
      named.error().kind == ErrorKind::kNotFound || named.error().kind == ErrorKind::kInvalid;
  if (!is_none) return std::unexpected(named.error());
  parts_.view.remove_remediation(mark->name);
  return {};
}

// Reads the exclusion of the node. A disruptive step needs the present list; other changes accept a
// list of age `max_age`.
Status CaseReader::look_up_exclusion(Case& now, milliseconds max_age) {
  if (parts_.exclusions == nullptr || !now.node) return {};
  const auto list = parts_.exclusions->read(max_age);
  if (!list) return std::unexpected(list.error());
  now.excluded = exclusion_for(*list, *now.node, parts_.clock.wall());
  return {};
}

Result<FreshCase> CaseReader::read_again(const std::string& name, const std::string& node_name,
                                         std::shared_ptr<const Policy> policy) {
  auto node = parts_.api.get_node(node_name);
  if (!node && node.error().kind == ErrorKind::kNotFound)
    return fail(ErrorKind::kCancelled, "the node " + node_name + " is gone");
  if (!node) return with_context("reading the node before a change", node.error());
  Case now{.remediation = {}, .node = *std::move(node), .target = {}, .policy = {}};
  if (auto known = look_up_exclusion(now, milliseconds(0)); !known)
    return with_context("before a change", known.error());
  // Reads the Remediation last, so that no other read comes between an operator's request and the
  // call.
  auto remediation = read_wish(name);
  if (!remediation) return std::unexpected(remediation.error());
  const auto excluded = std::move(now.excluded);
  FreshCase again(case_of(*std::move(remediation), std::move(now.node), std::move(policy)));
  again->excluded = excluded;
  return again;
}

Result<Remediation> CaseReader::read_wish(const std::string& name) {
  auto current = parts_.store.read(name);
  if (!current) return with_context("reading the Remediation before a change", current.error());
  if (current->wish.pause)
    return fail(ErrorKind::kCancelled, "an operator has paused the remediation");
  if (current->wish.cancel)
    return fail(ErrorKind::kCancelled, "an operator has cancelled the remediation");
  // A call may be sent after its step has ended, for example an eviction that waits for its turn.
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
  RememberedAnswers answers(parts_.slots, parts_.observer, now);
  decide_with(answers, now);
  return !answers.was_asked() && may_rest_on_memory(now.decision.verdict);
}

void CaseDecider::decide_fresh(FreshCase& now) const {
  FreshAnswers answers(parts_, *this, *now);
  decide_with(answers, *now);
}

std::optional<Decision> CaseDecider::decide_after(const Case& now,
                                                  const RemediationStatus& next) const {
  Case then = now;
  then.remediation.status = next;
  return decide_unasked(then);
}

std::optional<Decision> CaseDecider::decide_unasked(const Case& now) const {
  NoAnswers answers;
  Decision decision = decide(*now.policy, inputs_of(now), answers, parts_.clock.wall());
  return answers.was_asked() ? std::nullopt : std::optional(std::move(decision));
}

Status CaseDecider::check_under_way(const FreshCase& now, Step step) const {
  const auto decision = decide_unasked(*now);
  const std::string what(to_string(step));
  if (!decision) return fail(ErrorKind::kCancelled, what + " is no longer the step to take");
  const bool is_watched =
      decision->verdict == Verdict::kWatch && decision->step && decision->step->step == step;
  return is_watched ? Status() : fail(ErrorKind::kCancelled, decision->message);
}

void CaseDecider::decide_with(Answers& answers, Case& now) const {
  const WallTime since = parts_.clock.wall() - kTaintsFirst;
  const std::string& node = now.remediation.node;
  const bool is_young = now.remediation.created >= since;
  const bool has_unrecorded = has_unrecorded_since(parts_.view, since, node);
  now.are_others_unrecorded = is_young && has_unrecorded;
  now.are_others_untainted = is_young && has_untainted_since(parts_.view, since, node);
  DecisionInputs inputs = inputs_of(now);
  inputs.has_untainted_elsewhere = has_unrecorded;
  now.decision = decide(*now.policy, inputs, answers, parts_.clock.wall());
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

DecisionInputs CaseDecider::inputs_of(const Case& now) const {
  return {.remediation = now.remediation,
          .node = now.node ? &*now.node : nullptr,
          .excluded = now.excluded,
          .goes_first = goes_first_of(now),
          .left_cordon = left_cordon_of(now),
          .has_untainted_elsewhere = false};
}

Result<HealthReport> CaseDecider::report_of(const std::string& node) const {
  if (parts_.reports == nullptr) {
    return fail(ErrorKind::kNotFound, "--prometheus.url is not set");
  }
  auto report = parts_.reports->latest(node);
  // The status only says that there is no report, so the observer gets the details.
  const bool is_news = !report && report.error().kind != ErrorKind::kNotFound &&
                       report.error().kind != ErrorKind::kOverloaded;
  if (is_news) parts_.observer.on_error(node, report.error());
  return report;
}

}  // namespace gpuward::remediator
