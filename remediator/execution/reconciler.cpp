#include "remediator/execution/reconciler.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

// How soon after an act its node's report is looked at.
constexpr std::chrono::milliseconds kWeighAfter{5'000};

}  // namespace

LookAgain Reconciler::reconcile(const std::string& node) {
  std::optional<std::chrono::milliseconds> soonest;
  const auto policy = parts_.policy.get();
  for (const std::string& name : parts_.view.open_for(node)) {
    const auto look_again = reconcile_one(name, policy);
    if (!look_again) {
      reader_.distrust(name);
      return with_context("remediation " + name, look_again.error());
    }
    if (*look_again) soonest = std::min(soonest.value_or(**look_again), **look_again);
  }
  return soonest;
}

LookAgain Reconciler::reconcile_one(const std::string& name,
                                    const std::shared_ptr<const Policy>& policy) {
  if (!reader_.is_distrusted(name) && pending_.waits_for_marks(name)) return kStormInterval;
  if (auto cached = reader_.recall(name, policy); cached && decider_.decide_cached(*cached))
    return go_on(*cached);
  auto fresh = reader_.read(name, policy);
  if (!fresh) return std::unexpected(fresh.error());
  if (!*fresh || !(**fresh)->remediation.open()) forget(name);
  if (!*fresh) return std::nullopt;
  if (!(**fresh)->remediation.open()) return see_off(***fresh);
  decider_.decide_fresh(**fresh);
  return go_on(**fresh);
}

// Carries out what was decided, be the case cached or fresh: which of the two says what may be.
template <typename AnyCase>
LookAgain Reconciler::go_on(AnyCase& decided) {
  Case& now = case_in(decided);
  if (auto counted = decider_.count_arrival(now); !counted) return std::unexpected(counted.error());
  const std::string seen = now.remediation.resource_version;
  if (auto status = carry_out(decided); !status) return std::unexpected(status.error());
  return tell(now, seen);
}

Status Reconciler::carry_out(Case& now) {
  switch (now.decision.verdict) {
    case Verdict::kQuarantine:
      return marks_.put_on(now);
    case Verdict::kWatch:
      return steps_.watch(now);
    case Verdict::kBegin:
    case Verdict::kRelease:
      return fail(ErrorKind::kInternal,
                  "no step is begun and no node returned on what was seen before");
    default:
      return records_.write_decision(now);
  }
}

Status Reconciler::carry_out(FreshCase& now) {
  if (now->decision.verdict == Verdict::kBegin) return steps_.begin(now);
  if (now->decision.verdict == Verdict::kRelease) return marks_.take_off(now);
  if (now->decision.verdict == Verdict::kClose) {
    if (auto status = steps_.abandon_jobs(now); !status) return status;
  }
  return carry_out(*now);
}

// `seen`: the version that the decision was about.
LookAgain Reconciler::tell(Case& now, const std::string& seen) {
  if (!now.remediation.open()) {
    forget(now.remediation.name);
    // What a crash keeps from being given back here, the keeper of the ledger gives back later.
    if (auto status = parts_.slots.give_back(now.remediation); !status)
      parts_.observer.on_error(now.remediation.node, status.error());
    return see_off(now);
  }
  if (auto status = records_.tell_operator(now); !status) return std::unexpected(status.error());
  // What must be done about other nodes goes before what is only good to know of this one.
  const bool weighs_later =
      (now.remediation.resource_version != seen || now.are_others_unrecorded) &&
      weighs_evidence(now);
  if (!weighs_later) {
    if (auto status = weigh_evidence(now); !status) return std::unexpected(status.error());
  }
  // The first word has the class of the error in it, which the exporter knows.
  if (!weighs_later || !now.remediation.status.error_class.empty()) {
    if (auto status = records_.tell_sinks(now); !status) return std::unexpected(status.error());
  }
  if (!weighs_later) return now.decision.look_again;
  return std::min(now.decision.look_again.value_or(kWeighAfter), kWeighAfter);
}

// Of a closed Remediation its end is told; one that somebody has deleted is let go.
LookAgain Reconciler::see_off(Case& now) {
  if (auto status = records_.tell_sinks(now); !status) return std::unexpected(status.error());
  if (!now.remediation.must_be_let_go()) return std::nullopt;
  const auto gone = parts_.store.let_go(now.remediation);
  if (!gone && gone.error().kind != ErrorKind::kNotFound) return std::unexpected(gone.error());
  return std::nullopt;
}

// Each look at a step that takes its time would ask again.
bool Reconciler::weighs_evidence(const Case& now) const {
  const Remediation& remediation = now.remediation;
  const bool goes_on =
      now.decision.verdict == Verdict::kBegin || now.decision.verdict == Verdict::kWatch;
  const bool is_known = goes_on && remediation.status.kernel_severity;
  return parts_.reports != nullptr && !is_known && remediation.open() && remediation.any_firing();
}

// For people to read. At a look that has nothing else to write: a node that must leave never waits
// for Prometheus.
Status Reconciler::weigh_evidence(Case& now) {
  const Remediation& remediation = now.remediation;
  if (!weighs_evidence(now)) return {};
  const auto report = decider_.report_of(remediation.node);
  if (!report || report->boot_id != remediation.boot_id) return {};
  RemediationStatus next = remediation.status;
  note_evidence(*report, next);
  return next == remediation.status ? Status() : records_.write(now, next);
}

void Reconciler::forget(const std::string& name) {
  reader_.trust(name);
  pending_.forget(name);
  steps_.forget(name);
}

}  // namespace gpuward::remediator
