#include "remediator/act/actions/terminate_action.h"

#include <vector>

#include "core/runtime/json.h"
#include "remediator/act/actions/machine_kind.h"
#include "remediator/act/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kNamedVolumes = 4;
const std::string kOwnerFact = "owner";
// The fact with the time since which the provider has reported without a break that the machine
// runs after a request to end it.
const std::string kRunsSinceFact = "runsSince";
// How often gpuward asks the provider about a machine with an end that was not proven in time.
constexpr std::chrono::minutes kProofInterval{1};

constexpr const char* kUnknown = "cannot tell whether the termination of the machine was accepted";

bool is_accepted(const StepRequest& request) {
  const StepRecord* record = request.remediation.status.find(Step::kTerminate);
  return record != nullptr && call_of(*record) == Call::kAccepted;
}

Machine machine_of(const StepRequest& request) {
  return {.remediation = request.remediation.name,
          .node = request.node.meta.name,
          .node_uid = request.node.meta.uid,
          .provider_id = fact_of(request, kInstanceFact),
          .boot_id = request.node.boot_id,
          .labels = request.node.meta.labels,
          .owner = parse_owner(fact_of(request, kOwnerFact))};
}

// Returns the volumes that are attached to the node, by the names of their PersistentVolumes.
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

// Returns whether the deadline of the volumes, counted from the end of the drain, is over.
bool is_late(const StepRequest& request) {
  const StepRecord* drain = request.remediation.status.find(Step::kDrain);
  return drain == nullptr || !drain->finished_at ||
         request.now - *drain->finished_at >= request.step.volumes.deadline;
}

}  // namespace

Facts TerminateAction::facts_before(const kube::Node& node) const {
  Facts facts = {{kInstanceFact, node.provider_id},
                 {kCallFact, std::string(to_string(Call::kUnknown))}};
  if (const auto owner = owner_of(node)) facts[kOwnerFact] = to_string(*owner);
  facts.merge(to_facts(kind_of(node, place_keys(policy_.get()->budgets))));
  return facts;
}

Result<std::optional<std::string>> TerminateAction::obstacle(const StepRequest& request) {
  if (is_late(request)) return std::nullopt;
  const auto volumes = volumes_on(api_, request.node.meta.name);
  if (!volumes) return std::unexpected(volumes.error());
  return volumes->empty() ? std::nullopt : std::optional(in_words(*volumes));
}

Result<StepProgress> TerminateAction::begin(const StepRequest& request) {
  const auto refused = [&](std::string why) {
    return with_call(failed_for_operator(request, std::move(why)), Call::kNone);
  };
  if (request.node.provider_id.empty())
    return refused("the node has no spec.providerID: its machine is unknown");
  const auto volumes = volumes_on(api_, request.node.meta.name);
  if (!volumes) return progress_of(request, StepResult::kIntended, volumes.error().message);
  if (!volumes->empty() && !request.step.volumes.proceeds) {
    return is_late(request) ? refused(in_words(*volumes))
                            : progress_of(request, StepResult::kIntended, in_words(*volumes));
  }
  const auto asked = provider_.terminate(machine_of(request), permit_of_call(request));
  if (asked) {
    return with_call(
        progress_of(request, StepResult::kRunning, "the termination of the machine was requested"),
        Call::kAccepted);
  }
  if (is_not_now(asked.error().kind)) return held_back(request, asked.error());
  if (!may_have_arrived(asked.error().kind)) return refused(asked.error().message);
  return progress_of(request, StepResult::kRunning,
                     std::string(kUnknown) + ": " + asked.error().message);
}

Result<StepProgress> TerminateAction::watch(const StepRequest& request) {
  auto progress = look_at_machine(request);
  const StepRecord* record = request.remediation.status.find(Step::kTerminate);
  const bool is_over = record != nullptr && record->result == StepResult::kFailed;
  if (progress && is_over) progress->look_again = kProofInterval;
  return progress;
}

Result<StepProgress> TerminateAction::look_at_machine(const StepRequest& request) {
  const auto fate = provider_.fate(machine_of(request));
  if (!fate) {
    return progress_of(request, StepResult::kRunning,
                       (is_accepted(request) ? "" : std::string(kUnknown) + "; ") +
                           "the state of the machine is unknown: " + fate.error().message);
  }
  if (fate->is == Fate::kRuns) return contradicted(request);
  StepProgress progress =
      progress_of(request, StepResult::kRunning,
                  "waiting for the machine to terminate" +
                      (fate->words.empty() ? std::string() : ": " + fate->words));
  if (fate->is == Fate::kGone) {
    auto waited = wait_for_node(request);
    if (!waited) return waited;
    progress = *std::move(waited);
  }
  progress.facts.erase(kRunsSinceFact);
  return progress;
}

// Returns the progress if the provider reports a running machine after the call. The report may be
// older than the call, because EC2 is eventually consistent.
StepProgress TerminateAction::contradicted(const StepRequest& request) {
  const WallTime since = parse_rfc3339(fact_of(request, kRunsSinceFact)).value_or(request.now);
  const std::string what =
      std::string(is_accepted(request) ? "the termination of the machine was accepted" : kUnknown) +
      ", but since " + to_rfc3339(since) + " the provider has reported that it is running";
  if (request.now - since < kAnswersSettle) {
    StepProgress progress = progress_of(request, StepResult::kRunning, what);
    progress.facts[kRunsSinceFact] = to_rfc3339_ms(since);
    return progress;
  }
  if (is_accepted(request)) return failed_for_operator(request, what);
  return progress_of(request, StepResult::kIntended,
                     "the termination of the machine was not requested");
}

Result<StepProgress> TerminateAction::wait_for_node(const StepRequest& request) {
  const auto node = api_.get_node(request.node.meta.name);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node && node->meta.uid == request.node.meta.uid) {
    return progress_of(request, StepResult::kRunning,
                       "the machine is gone; waiting for the Node to be deleted");
  }
  return progress_of(request, StepResult::kDone, "the machine and its Node are gone");
}

}  // namespace gpuward::remediator
