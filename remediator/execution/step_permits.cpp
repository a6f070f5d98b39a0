#include "remediator/execution/step_permits.h"

#include "core/runtime/clock.h"
#include "remediator/actions/step_progress.h"
#include "remediator/decision/step_order.h"

namespace gpuward::remediator {
namespace {

// Whether the step does something on the node itself, be it a Job, or to the jobs that ran there;
// the others go on without it.
bool acts_on_node(Step step) {
  return is_disruptive(step) || is_job(step) || step == Step::kRestartJob;
}

// How long ago the answers to a permit may have been asked for.
constexpr std::chrono::milliseconds kOldestPermit{30'000};

}  // namespace

std::string intent_of(const StepRecord* record) {
  return record == nullptr || !record->intent_at ? "" : to_rfc3339_ms(*record->intent_at);
}

Status StepPermits::for_remediation(const std::string& remediation) {
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  return reads_.ask(remediation, [&]() -> Status {
    const auto current = read_wish(remediation);
    return current ? Status() : std::unexpected(current.error());
  });
}

Status StepPermits::for_step(const Claim& claim) {
  const auto asked_at = parts_.clock.steady();
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  const std::string key = claim.remediation + "/" + std::string(to_string(claim.step)) + "/" +
                          claim.intended + "/" + claim.node_uid;
  auto stands = reads_.ask(key, [&]() -> Status {
    // What people have said is read last: nothing is between their word and the call.
    const Status same = acts_on_node(claim.step) ? check_node(claim) : Status();
    auto intended = check_intent(claim);
    if (!intended || same) return intended;
    reader_.distrust(
        claim.remediation);  // the view is old: the next look reads both afresh, and closes
    return same;
  });
  if (!stands) return stands;
  if (parts_.clock.steady() - asked_at > kOldestPermit)
    return fail(ErrorKind::kCancelled, "what the permit rests on was read more than 30 s ago");
  if (!parts_.leads || parts_.leads()) return {};
  return fail(ErrorKind::kCancelled, "this replica does not lead any more");
}

Status StepPermits::check_intent(const Claim& claim) {
  const auto current = read_wish(claim.remediation);
  if (!current) return std::unexpected(current.error());
  const StepRecord* record = current->status.find(claim.step);
  if (record != nullptr && is_under_way(*record) && intent_of(record) == claim.intended) return {};
  return fail(ErrorKind::kCancelled, "the step is not intended any more as it was");
}

Status StepPermits::check_node(const Claim& claim) {
  const auto node = parts_.api.get_node(claim.node);
  const bool is_same = node && node->meta.uid == claim.node_uid;
  if (is_same && !claim.boot.empty() && node->boot_id != claim.boot)
    return fail(ErrorKind::kCancelled, "the node has restarted since the step was intended");
  if (is_same) return check_exclusion(claim, *node);
  if (node) return fail(ErrorKind::kCancelled, "another node has the name " + claim.node + " now");
  if (node.error().kind == ErrorKind::kNotFound)
    return fail(ErrorKind::kCancelled, "the node " + claim.node + " is gone");
  return with_context("before a change", node.error());
}

// An exclusion may have come since the step was intended, and a mode that does not go so far.
Status StepPermits::check_exclusion(const Claim& claim, const kube::Node& node) {
  const auto policy = policy_for(parts_.policy.get(), node.meta.labels);
  if (const auto why = exclusion_of(*policy, node)) return fail(ErrorKind::kCancelled, *why);
  if (!allows(policy->mode, claim.step)) {
    return fail(ErrorKind::kCancelled, "mode " + std::string(to_string(policy->mode)) +
                                           " does not go as far as " +
                                           std::string(to_string(claim.step)));
  }
  if (parts_.exclusions == nullptr) return {};
  const auto list = parts_.exclusions->read();
  if (!list) return with_context("before a change", list.error());
  const auto excluded = exclusion_for(*list, node, parts_.clock.wall());
  return excluded ? fail(ErrorKind::kCancelled, excluded->why) : Status();
}

Result<Remediation> StepPermits::read_wish(const std::string& remediation) {
  auto current = parts_.store.read(remediation);
  if (!current) return with_context("before a change", current.error());
  if (current->wish.pause) return fail(ErrorKind::kCancelled, "a human has said pause");
  if (current->wish.cancel) return fail(ErrorKind::kCancelled, "a human has said cancel");
  // What a step has handed out may outlive it: an eviction that waits for its turn.
  if (!current->open()) return fail(ErrorKind::kCancelled, "the remediation is closed");
  return current;
}

}  // namespace gpuward::remediator
