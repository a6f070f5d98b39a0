#include "remediator/act/actions/job_peers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"

namespace gpuward::remediator {
namespace {

enum class PeerPlace : std::uint8_t { kThere, kComing, kOut, kNowhere };

// The facts of a Remediation that decide which other nodes failed together with its node.
struct Tie {
  std::vector<std::string> jobs;
  std::optional<WallTime> opened;
};

Tie tie_of(const Remediation& remediation) {
  return {.jobs = jobs_drained(remediation), .opened = remediation.created};
}

bool have_failed_together(const Tie& a, const Tie& b, std::chrono::milliseconds together) {
  if (!a.jobs.empty() && !b.jobs.empty()) {
    return std::ranges::any_of(a.jobs, [&](const std::string& job) {
      return std::ranges::find(b.jobs, job) != b.jobs.end();
    });
  }
  return a.opened && b.opened && std::chrono::abs(*a.opened - *b.opened) <= together;
}

bool leads_there(const Remediation& remediation, const kube::Node& node,
                 const std::shared_ptr<const Policy>& policy) {
  const auto own = policy_for(policy, node.meta.labels);
  if (!allows(own->mode, Step::kNcclPairs) || exclusion_of(*own, node)) return false;
  const auto& list = recovery_of(*own, own->pool, remediation.acted_severity());
  return std::ranges::find(list, Step::kNcclPairs, &PlannedStep::step) != list.end();
}

bool is_left_to_operator(const Remediation& remediation) {
  return needs_operator(remediation.status.phase) || remediation.wish.pause ||
         remediation.wish.cancel || remediation.deleting;
}

PeerPlace place_of_peer(const SeenRemediation& one, const std::shared_ptr<const Policy>& policy) {
  const Remediation& remediation = one.remediation;
  const bool has_node = one.node != nullptr && one.node->meta.uid == remediation.node_uid;
  const StepRecord* record = remediation.status.find(Step::kNcclPairs);
  if (record == nullptr || record->severity != remediation.acted_severity()) {
    if (!has_node || !leads_there(remediation, *one.node, policy)) return PeerPlace::kNowhere;
    const bool comes = remediation.open() && !is_left_to_operator(remediation);
    return comes ? PeerPlace::kComing : PeerPlace::kOut;
  }
  if (!has_node || is_left_to_operator(remediation) || !remediation.open()) return PeerPlace::kOut;
  const bool is_over = record->result == StepResult::kDone || record->result == StepResult::kFailed;
  const auto boot = record->facts.find(kJobBootFact);
  const bool is_same_boot = boot != record->facts.end() && boot->second == one.node->boot_id;
  // An excluded or waiting Remediation has another phase, so it is not at the step.
  const bool is_at_it = remediation.status.phase == Phase::kTesting;
  return !is_over && is_same_boot && is_at_it ? PeerPlace::kThere : PeerPlace::kOut;
}

// Returns the indices in `ties` of all entries that failed together with the first entry, without
// the first entry.
std::vector<std::size_t> tied_to_first(const std::vector<Tie>& ties,
                                       std::chrono::milliseconds together) {
  std::vector<std::size_t> found{0};
  std::vector<bool> is_found(ties.size(), false);
  is_found[0] = true;
  for (std::size_t at = 0; at < found.size(); ++at) {
    for (std::size_t i = 0; i < ties.size(); ++i) {
      if (is_found[i] || !have_failed_together(ties[found[at]], ties[i], together)) continue;
      is_found[i] = true;
      found.push_back(i);
    }
  }
  found.erase(found.begin());
  std::ranges::sort(found);
  return found;
}

}  // namespace

bool is_out_by_own_diagnostics(const Remediation& remediation) {
  return std::ranges::any_of(remediation.status.steps, [](const StepRecord& record) {
    return is_diagnostic(record.step) && record.step != Step::kNcclPairs &&
           record.result == StepResult::kFailed && record.severity != Severity::kNone &&
           !record.facts.contains(kNeedsOperatorFact);
  });
}

PeerGroup peers_of(const JobPeer& own, std::span<const SeenRemediation> seen,
                   std::chrono::milliseconds together,
                   const std::shared_ptr<const Policy>& policy) {
  std::vector<Tie> ties{tie_of(own.remediation)};
  std::vector<const SeenRemediation*> others{nullptr};
  for (const SeenRemediation& one : seen) {
    if (one.remediation.name == own.remediation.name) continue;
    if (!one.remediation.open() && one.remediation.status.closed_at < own.remediation.created)
      continue;
    ties.push_back(tie_of(one.remediation));
    others.push_back(&one);
  }
  PeerGroup group;
  group.there.push_back(own);
  for (const std::size_t i : tied_to_first(ties, together)) {
    const PeerPlace place = place_of_peer(*others[i], policy);
    if (place == PeerPlace::kNowhere) continue;
    auto& list = place == PeerPlace::kOut      ? group.out
                 : place == PeerPlace::kComing ? group.coming
                                               : group.there;
    list.push_back({.remediation = others[i]->remediation, .node = others[i]->node});
  }
  std::ranges::sort(group.there, {}, [](const JobPeer& one) { return one.remediation.name; });
  return group;
}

}  // namespace gpuward::remediator
