#include "remediator/act/restart/job_move.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/kube/gpu_pods.h"
#include "core/runtime/json.h"
#include "remediator/model/pod_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

// Volcano's default if spec.maxRetry is 0 (pkg/controllers/job/state, DefaultMaxRetry).
constexpr std::int64_t kDefaultMaxRetry = 3;

// Conditions of a Job, JobSet, TrainJob or Kubeflow job that has ended or is about to end.
constexpr std::array<std::string_view, 6> kEnds{"Complete", "Completed",     "Succeeded",
                                                "Failed",   "FailureTarget", "SuccessCriteriaMet"};
constexpr std::array<std::string_view, 7> kVolcanoEnds{
    "Completed", "Completing", "Failed", "Terminated", "Terminating", "Aborted", "Aborting"};

// Creation times are whole seconds.
bool is_torn(const kube::Pod& pod, kube::WallTime drained_at) {
  if (kube::has_ended(pod) || pod.meta.deleting || !pod.meta.created) return false;
  return *pod.meta.created < std::chrono::floor<std::chrono::seconds>(drained_at);
}

std::size_t count_torn(const SeenJob& job, kube::WallTime drained_at) {
  return static_cast<std::size_t>(std::ranges::count_if(
      job.pods, [&](const kube::Pod& pod) { return is_torn(pod, drained_at); }));
}

std::size_t count_left(const SeenJob& job) {
  return static_cast<std::size_t>(
      std::ranges::count_if(job.pods, [](const kube::Pod& pod) { return !kube::has_ended(pod); }));
}

const Json& status_of(const SeenJob& job) { return member_at(*job.object.json, "status"); }

bool has_end_condition(const Json& status) {
  const Json& conditions = member_at(status, "conditions");
  return conditions.is_array() && std::ranges::any_of(conditions, [](const Json& condition) {
           return string_at(condition, "status") == "True" &&
                  std::ranges::find(kEnds, string_at(condition, "type")) != kEnds.end();
         });
}

std::string volcano_phase(const SeenJob& job) {
  return string_at(member_at(status_of(job), "state"), "phase");
}

bool has_finished(const SeenJob& job) {
  if (job.kind.by != RestartBy::kCommand) return has_end_condition(status_of(job));
  return std::ranges::find(kVolcanoEnds, volcano_phase(job)) != kVolcanoEnds.end();
}

std::int64_t number_at(const Json& object, std::string_view key) {
  const Json& value = member_at(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

// Volcano fails the job if it is restarted once more.
bool has_no_retry_left(const SeenJob& job) {
  if (job.kind.by != RestartBy::kCommand) return false;
  const std::int64_t most = number_at(member_at(*job.object.json, "spec"), "maxRetry");
  return number_at(status_of(job), "retryCount") + 1 >= (most == 0 ? kDefaultMaxRetry : most);
}

std::string pods_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

JobMove left_alone(const std::string& why) { return {Move::kSettle, "left alone: " + why}; }
JobMove failed(const std::string& why) { return {Move::kSettle, "failed: " + why, true}; }
JobMove restarted() { return {Move::kSettle, "restarted"}; }

// The second word.
std::string known_uid(const std::string& known) {
  const auto begin = known.find(' ') + 1;
  return known.substr(begin, known.find(' ', begin) - begin);
}

// Why this Remediation must not restart the job, regardless of its pods.
std::optional<std::string> objection(const SeenJob& job, const RestartClaim& claim) {
  const kube::ObjectMeta& meta = job.object.meta;
  if (meta.deleting) return "it is being deleted";
  if (has_finished(job)) return "it has finished";
  const std::string& excluded = value_at(meta.annotations, kDoNotRestart);
  if (!excluded.empty() && excluded != "false")
    return "its annotation " + kDoNotRestart + " forbids a restart";
  if (meta.labels.contains(kKueueQueue)) return "Kueue decides whether it is suspended";
  if (!job.foreign_owner.empty()) return "it belongs to " + job.foreign_owner;
  const std::string& other = value_at(meta.annotations, kSuspendedBy);
  if (!other.empty() && other != claim.mark && is_suspended(job.kind, job.object))
    return "Remediation " + other.substr(0, other.find('/')) + " restarts it";
  if (is_suspended(job.kind, job.object)) return "another client has suspended it";
  if (has_no_retry_left(job)) return "its maxRetry allows no further restart";
  return std::nullopt;
}

JobMove move_untouched(const SeenJob& job, const RestartClaim& claim) {
  if (const auto why = objection(job, claim)) return left_alone(*why);
  if (count_torn(job, claim.drained_at) == 0)
    return left_alone("none of its pods is older than the drain: it restarts by itself");
  if (claim.is_late) return failed("it was not restarted in time");
  if (!claim.may_begin) return {Move::kWait, "has up to 10s after the drain to restart by itself"};
  return {job.kind.by == RestartBy::kCommand ? Move::kAsk : Move::kSuspend, ""};
}

JobMove move_suspended(const SeenJob& job, const RestartClaim& claim) {
  const std::size_t left = count_left(job);
  const bool is_ready = left == 0 || claim.is_late || !is_suspended(job.kind, job.object);
  if (!is_ready)
    return {Move::kWait, "suspended, waiting for " + pods_text(left) + " to terminate"};
  return {.move = Move::kResume,
          .words = left == 0 ? "" : pods_text(left) + " had not terminated",
          .failed = claim.is_late && left > 0};
}

JobMove move_asked(const SeenJob& job, const RestartClaim& claim) {
  const std::size_t torn = count_torn(job, claim.drained_at);
  if (torn == 0) return restarted();
  if (claim.is_late) return failed("Volcano did not restart it in time");
  return {Move::kWait, "waits for Volcano to terminate " + pods_text(torn)};
}

Json marks_patch(const kube::CustomObject& object) {
  return {
      {"metadata", {{"uid", object.meta.uid}, {"resourceVersion", object.meta.resource_version}}}};
}

}  // namespace

bool is_suspended(const JobKind& kind, const kube::CustomObject& object) {
  const Json::json_pointer field(kind.suspend);
  return kind.by == RestartBy::kSuspension && object.json->contains(field) &&
         object.json->at(field) == true;
}

bool is_suspended_by(const kube::CustomObject& object, const std::string& mark) {
  return value_at(object.meta.annotations, kSuspendedBy) == mark;
}

JobMove next_move(const SeenJob& job, const std::string& known, const RestartClaim& claim) {
  const kube::ObjectMeta& meta = job.object.meta;
  if (is_suspended_by(job.object, claim.mark)) return move_suspended(job, claim);
  if (value_at(meta.annotations, kRestartedBy) == claim.mark) return restarted();
  const bool is_new = meta.created && *meta.created > claim.drained_at;
  if (is_new || (!known.empty() && known_uid(known) != meta.uid))
    return left_alone("it was recreated after the drain");
  if (known.starts_with(kKnownAsked)) return move_asked(job, claim);
  if (known.starts_with(kKnownSuspended))
    return left_alone("another client has removed the annotation " + kSuspendedBy);
  return move_untouched(job, claim);
}

std::string suspend_patch(const JobKind& kind, const kube::CustomObject& object,
                          const std::string& mark) {
  Json patch = marks_patch(object);
  patch["metadata"]["annotations"] = {{kSuspendedBy, mark}};
  patch[Json::json_pointer(kind.suspend)] = true;
  return dump_json(patch);
}

std::string resume_patch(const JobKind& kind, const kube::CustomObject& object,
                         const std::string& mark) {
  Json patch = marks_patch(object);
  patch["metadata"]["annotations"] = {{kSuspendedBy, nullptr}, {kRestartedBy, mark}};
  if (is_suspended(kind, object)) patch[Json::json_pointer(kind.suspend)] = false;
  return dump_json(patch);
}

std::string restart_command(const kube::CustomObject& object, const std::string& mark) {
  const std::string remediation_uid = mark.substr(mark.find('/') + 1);
  return dump_json({{"apiVersion", "bus.volcano.sh/v1alpha1"},
                    {"kind", "Command"},
                    {"metadata",
                     {{"name", "gpuward-" + object.meta.uid + "-" + remediation_uid.substr(0, 8)},
                      {"annotations", {{kRestartedBy, mark}}}}},
                    {"action", "RestartJob"},
                    {"reason", "NodeDrained"},
                    {"message", "gpuward has drained a node of the job"},
                    {"target",
                     {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                      {"kind", "Job"},
                      {"name", object.meta.name},
                      {"uid", object.meta.uid},
                      {"controller", true}}}});
}

}  // namespace gpuward::remediator
