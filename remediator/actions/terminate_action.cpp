#include "remediator/actions/terminate_action.h"

#include <vector>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kEndInterval{10};
constexpr std::size_t kNamedVolumes = 4;
const std::string kEndedInstance = "instanceID";
const std::string kOwnerFact = "owner";

StepProgress end_progress(StepResult result, std::string message, const StepOrder& order) {
  return {.result = result,
          .message = std::move(message),
          .facts = order.facts,
          .look_again = kEndInterval};
}

// What is worse would not help: there is nothing worse.
StepProgress give_to_a_human(std::string message, const StepOrder& order) {
  StepProgress progress = end_progress(StepResult::kFailed, std::move(message), order);
  progress.facts[kNeedsHumanFact] = "true";
  return progress;
}

Machine machine_of(const StepOrder& order) {
  const auto fact = [&](const std::string& name) {
    const auto found = order.facts.find(name);
    return found == order.facts.end() ? std::string() : found->second;
  };
  return {.remediation = order.remediation.name,
          .node = order.node.meta.name,
          .node_uid = order.node.meta.uid,
          .provider_id = fact(kEndedInstance),
          .boot_id = order.node.boot_id,
          .labels = order.node.meta.labels,
          .owner = parse_owner(fact(kOwnerFact))};
}

// The volumes that are attached to the node, by the name of their PersistentVolume.
Result<std::vector<std::string>> volumes_on(kube::Api& api, const std::string& node) {
  const auto all = api.list_custom({"storage.k8s.io", "v1", "volumeattachments", ""});
  if (!all) return with_context("listing VolumeAttachments", all.error());
  std::vector<std::string> volumes;
  for (const kube::CustomObject& attachment : *all) {
    const auto json = parse_json(attachment.json);
    if (!json) return with_context("VolumeAttachment " + attachment.meta.name, json.error());
    const Json& spec = member_at(*json, "spec");
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
bool is_late(const StepOrder& order) {
  const StepRecord* drain = order.remediation.status.find(Step::kDrain);
  return drain == nullptr || !drain->finished_at ||
         order.now - *drain->finished_at >= order.step.volumes.deadline;
}

}  // namespace

Facts TerminateAction::facts_before(const kube::Node& node) const {
  Facts facts = {{kEndedInstance, node.provider_id}};
  if (const auto owner = owner_of(node)) facts[kOwnerFact] = to_string(*owner);
  return facts;
}

Result<std::optional<std::string>> TerminateAction::obstacle(const StepOrder& order) {
  if (is_late(order)) return std::nullopt;
  const auto volumes = volumes_on(api_, order.node.meta.name);
  if (!volumes) return std::unexpected(volumes.error());
  return volumes->empty() ? std::nullopt : std::optional(in_words(*volumes));
}

Result<StepProgress> TerminateAction::begin(const StepOrder& order) {
  if (order.node.provider_id.empty()) {
    return give_to_a_human(
        "the node has no spec.providerID: nobody can tell which machine it runs on", order);
  }
  const auto volumes = volumes_on(api_, order.node.meta.name);
  if (!volumes) return end_progress(StepResult::kIntended, volumes.error().message, order);
  if (!volumes->empty() && !order.step.volumes.proceeds) {
    return is_late(order) ? give_to_a_human(in_words(*volumes), order)
                          : end_progress(StepResult::kIntended, in_words(*volumes), order);
  }
  if (auto allowed = order.permit(); !allowed) {
    return end_progress(StepResult::kIntended, "terminate waits: " + allowed.error().message,
                        order);
  }
  const auto asked = provider_.terminate(machine_of(order));
  if (asked) {
    return end_progress(StepResult::kRunning, "the end of its machine is asked for", order);
  }
  const ErrorKind kind = asked.error().kind;
  if (kind != ErrorKind::kTimeout && kind != ErrorKind::kUnavailable)
    return give_to_a_human(asked.error().message, order);
  return end_progress(
      StepResult::kRunning,
      "it is not known whether the end of its machine was accepted: " + asked.error().message,
      order);
}

Result<StepProgress> TerminateAction::watch(const StepOrder& order) {
  const auto fate = provider_.fate(machine_of(order));
  if (!fate) {
    return end_progress(StepResult::kRunning, "nobody can tell: " + fate.error().message, order);
  }
  switch (*fate) {
    case Fate::kRuns:
      return end_progress(StepResult::kIntended, "the end of its machine was not asked for", order);
    case Fate::kEnding:
      return end_progress(StepResult::kRunning, "waiting for its machine to end", order);
    case Fate::kGone:
      break;
  }
  return wait_for_node(order);
}

Result<StepProgress> TerminateAction::wait_for_node(const StepOrder& order) {
  const auto node = api_.get_node(order.node.meta.name);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node && node->meta.uid == order.node.meta.uid) {
    return end_progress(StepResult::kRunning, "its machine is gone; waiting for the Node to go",
                        order);
  }
  return end_progress(StepResult::kDone, "its machine is gone, and the Node with it", order);
}

}  // namespace gpuward::remediator
