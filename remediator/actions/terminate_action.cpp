#include "remediator/actions/terminate_action.h"

#include <vector>

#include "core/runtime/json.h"
#include "remediator/actions/machine_kind.h"
#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kNamedVolumes = 4;
const std::string kOwnerFact = "owner";
// Since when the provider says without a break that a machine runs whose end was asked for.
const std::string kRunsSinceFact = "runsSince";
// How often a machine is asked for whose end has not been proven in time.
constexpr std::chrono::minutes kProofInterval{1};

constexpr const char* kUnknown = "it is not known whether the end of its machine was accepted";

bool is_accepted(const StepRequest& order) {
  const StepRecord* record = order.remediation.status.find(Step::kTerminate);
  return record != nullptr && call_of(*record) == Call::kAccepted;
}

Machine machine_of(const StepRequest& order) {
  return {.remediation = order.remediation.name,
          .node = order.node.meta.name,
          .node_uid = order.node.meta.uid,
          .provider_id = fact_of(order, kInstanceFact),
          .boot_id = order.node.boot_id,
          .labels = order.node.meta.labels,
          .owner = parse_owner(fact_of(order, kOwnerFact))};
}

// The volumes that are attached to the node, by the name of their PersistentVolume.
Result<std::vector<std::string>> volumes_on(kube::Api& api, const std::string& node) {
  const auto all = api.list_custom({"storage.k8s.io", "v1", "volumeattachments", ""});
  if (!all) return with_context("listing VolumeAttachments", all.error());
  std::vector<std::string> volumes;
  for (const kube::CustomObject& attachment : *all) {
    const Json& spec = member_at(*attachment.json, "spec");
    if (string_at(spec, "nodeName") != node) continue;
    const std::string volume = string_at(member_at(spec, "source"), "persistentVolumeName");
    volumes.push_back(volume.empty() ? attachment.meta.name : volume);
  }
  return volumes;
}

std::string in_words(const std::vector<std::string>& volumes) {
  std::string text = std::to_string(volumes.size()) +
                     (volumes.size() == 1 ? " volume is" : " volumes are") + " still attached: ";
  for (std::size_t i = 0; i < volumes.size() && i < kNamedVolumes; ++i) {
    text += (i == 0 ? "" : ", ") + volumes[i];
  }
  return text + (volumes.size() > kNamedVolumes ? ", ..." : "");
}

// Volumes have had their time since the drain.
bool is_late(const StepRequest& order) {
  const StepRecord* drain = order.remediation.status.find(Step::kDrain);
  return drain == nullptr || !drain->finished_at ||
         order.now - *drain->finished_at >= order.step.volumes.deadline;
}

}  // namespace

Facts TerminateAction::facts_before(const kube::Node& node) const {
  Facts facts = {{kInstanceFact, node.provider_id},
                 {kCallFact, std::string(to_string(Call::kUnknown))}};
  if (const auto owner = owner_of(node)) facts[kOwnerFact] = to_string(*owner);
  facts.merge(to_facts(kind_of(node, place_keys(policy_.get()->budgets))));
  return facts;
}

Result<std::optional<std::string>> TerminateAction::obstacle(const StepRequest& order) {
  if (is_late(order)) return std::nullopt;
  const auto volumes = volumes_on(api_, order.node.meta.name);
  if (!volumes) return std::unexpected(volumes.error());
  return volumes->empty() ? std::nullopt : std::optional(in_words(*volumes));
}

Result<StepProgress> TerminateAction::begin(const StepRequest& order) {
  const auto refused = [&](std::string why) {
    return with_call(failed_for_operator(order, std::move(why)), Call::kNone);
  };
  if (order.node.provider_id.empty())
    return refused("the node has no spec.providerID: nobody can tell which machine it runs on");
  const auto volumes = volumes_on(api_, order.node.meta.name);
  if (!volumes) return progress_of(order, StepResult::kIntended, volumes.error().message);
  if (!volumes->empty() && !order.step.volumes.proceeds) {
    return is_late(order) ? refused(in_words(*volumes))
                          : progress_of(order, StepResult::kIntended, in_words(*volumes));
  }
  const auto asked = provider_.terminate(machine_of(order), permit_of_call(order));
  if (asked) {
    return with_call(
        progress_of(order, StepResult::kRunning, "the end of its machine is asked for"),
        Call::kAccepted);
  }
  if (is_not_now(asked.error().kind)) return held_back(order, asked.error());
  if (!may_have_arrived(asked.error().kind)) return refused(asked.error().message);
  return progress_of(order, StepResult::kRunning,
                     std::string(kUnknown) + ": " + asked.error().message);
}

Result<StepProgress> TerminateAction::watch(const StepRequest& order) {
  auto progress = look_at_machine(order);
  const StepRecord* record = order.remediation.status.find(Step::kTerminate);
  const bool is_over = record != nullptr && record->result == StepResult::kFailed;
  if (progress && is_over) progress->look_again = kProofInterval;
  return progress;
}

Result<StepProgress> TerminateAction::look_at_machine(const StepRequest& order) {
  const auto fate = provider_.fate(machine_of(order));
  if (!fate) {
    return progress_of(order, StepResult::kRunning,
                       (is_accepted(order) ? "" : std::string(kUnknown) + ", and ") +
                           "nobody can tell: " + fate.error().message);
  }
  if (*fate == Fate::kRuns) return contradicted(order);
  StepProgress progress =
      progress_of(order, StepResult::kRunning, "waiting for its machine to end");
  if (*fate == Fate::kGone) {
    auto waited = wait_for_node(order);
    if (!waited) return waited;
    progress = *std::move(waited);
  }
  progress.facts.erase(kRunsSinceFact);
  return progress;
}

// The answer may be of before the call: what EC2 says is consistent only after a while.
StepProgress TerminateAction::contradicted(const StepRequest& order) {
  const WallTime since = parse_rfc3339(fact_of(order, kRunsSinceFact)).value_or(order.now);
  const std::string what =
      std::string(is_accepted(order) ? "the end of its machine was accepted" : kUnknown) +
      ", and its provider says since " + to_rfc3339(since) + " that it runs";
  if (order.now - since < kAnswersSettle) {
    StepProgress progress = progress_of(order, StepResult::kRunning, what);
    progress.facts[kRunsSinceFact] = to_rfc3339_ms(since);
    return progress;
  }
  if (is_accepted(order)) return failed_for_operator(order, what);
  return progress_of(order, StepResult::kIntended, "the end of its machine was not asked for");
}

Result<StepProgress> TerminateAction::wait_for_node(const StepRequest& order) {
  const auto node = api_.get_node(order.node.meta.name);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node && node->meta.uid == order.node.meta.uid) {
    return progress_of(order, StepResult::kRunning,
                       "its machine is gone; waiting for the Node to go");
  }
  return progress_of(order, StepResult::kDone, "its machine is gone, and the Node with it");
}

}  // namespace gpuward::remediator
