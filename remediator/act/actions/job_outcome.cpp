#include "remediator/act/actions/job_outcome.h"

#include <algorithm>
#include <array>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostWords = 1024;  // Limit in bytes for the words in the record.
// Exit code of shells for a command that cannot be executed.
constexpr int kCannotExecute = 126;
constexpr int kNoSuchCommand = 127;
// Exit code of gpuward-exporter for a failed check, and for a check without a result.
constexpr int kChecksFailed = 1;
// Text in the line of a failed check. The suite that gpuward replaces writes capitals, other checks
// write small letters.
constexpr std::array<const char*, 2> kFailedCheck = {R"("status":"FAIL")", R"("status":"fail")"};

bool belongs_to(const kube::Pod& pod, const kube::Job& job) {
  return std::ranges::any_of(
      pod.owners, [&](const kube::OwnerReference& owner) { return owner.uid == job.meta.uid; });
}

// Returns the details of the last line that is the JSON of a check. A kubelet takes the output from
// both streams, so log lines may surround that line.
std::string details_of_last_check(std::string_view said) {
  while (!said.empty()) {
    const auto before = said.find_last_of('\n');
    const bool is_last = before == std::string_view::npos;
    const auto json = parse_json(said.substr(is_last ? 0 : before + 1));
    if (json && json->is_object() && json->contains("check"))
      return to_valid_utf8(string_at(*json, "details"));
    said = said.substr(0, is_last ? 0 : before);
  }
  return {};
}

void note_end(const kube::ContainerEnd& end, JobOutcome& outcome) {
  outcome.exit_code = end.exit_code;
  outcome.reason = end.reason;
  outcome.words = std::string(trim(to_valid_utf8(end.message)));
  outcome.details = details_of_last_check(end.message);
}

std::string describe_end(const JobOutcome& outcome) {
  std::string text = "the Job's container exited with code " + std::to_string(*outcome.exit_code);
  if (*outcome.exit_code != 0 && !outcome.reason.empty()) text += " (" + outcome.reason + ")";
  return outcome.words.empty() ? text : text + ": " + to_valid_utf8(outcome.words, kMostWords);
}

std::string describe_pod(const kube::Pod* pod) {
  if (pod == nullptr) return "the Job has no pod";
  const std::string text = "the Job's pod is " + pod->phase;
  return pod->waiting.empty() ? text : text + ": " + pod->waiting;
}

}  // namespace

JobOutcome outcome_of(const kube::Job& job, const std::vector<kube::Pod>& pods) {
  JobOutcome outcome;
  outcome.is_over = job.is_complete || job.is_failed;
  const kube::Pod* seen = nullptr;
  for (const kube::Pod& pod : pods) {
    if (!belongs_to(pod, job)) continue;
    seen = &pod;
    if (!pod.ended.empty()) note_end(pod.ended.front(), outcome);
    outcome.has_run |= pod.phase == "Running" || !pod.ended.empty();
    outcome.may_have_run |= outcome.has_run || (pod.phase != "Failed" && pod.phase != "Succeeded");
  }
  if (job.is_complete && !outcome.exit_code) outcome.exit_code = 0;
  if (outcome.exit_code) {
    outcome.message = describe_end(outcome);
  } else if (job.is_failed) {
    outcome.message =
        "the Job's container did not exit on its own: " + job.failure + ", " + describe_pod(seen);
  } else {
    outcome.message = describe_pod(seen);
  }
  return outcome;
}

bool could_not_start(const JobOutcome& outcome) {
  return outcome.exit_code == kCannotExecute || outcome.exit_code == kNoSuchCommand ||
         outcome.reason == "StartError" || outcome.reason == "ContainerCannotRun";
}

bool has_failed_check(const JobOutcome& outcome) {
  return outcome.exit_code == kChecksFailed &&
         std::ranges::any_of(kFailedCheck,
                             [&](const char* word) { return outcome.words.contains(word); });
}

}  // namespace gpuward::remediator
