#include "tests/simulation/job_rules.h"

#include "remediator/model/diagnostics.h"
#include "tests/fakes/kube_objects.h"
#include "tests/simulation/care_rules.h"
#include "tests/simulation/operands.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::seconds;

// An abandoned Job may run until its own deadline, which begins when it is made.
constexpr std::chrono::minutes kLateEnd{1};

std::string key_of(const std::string& remediation, Step step) {
  return remediation + "/" + std::string(to_string(step));
}

bool has_intent(const Remediation& owner, Step step) {
  const StepRecord* const record = owner.status.find(step);
  return record != nullptr && record->result == StepResult::kIntended;
}

bool was_deleted(const Stage& stage, const JobTruth& job) {
  const Remediation* const owner = stage.truth.remediation(job.remediation);
  return owner == nullptr || owner->uid != job.remediation_uid;
}

}  // namespace

void JobRules::on_made(const Json& job, Step step) {
  const std::string remediation = fakes::annotation_of(job, "gpuward.dev/remediation");
  const Remediation* const owner = stage_.truth.remediation(remediation);
  const Json& spec = job["spec"];
  const std::string node = string_at(spec["template"]["spec"], "nodeName");
  const std::string what = "Job " + std::string(to_string(step)) + " on " + node;
  if (owner == nullptr && was_deleted_since_read(remediation)) return;
  require(owner != nullptr, "intent", what + " was made for no Remediation");
  require(is_intended(*owner, step), "intent", what + " was made without an intent");
  for (const JobTruth& other : stage_.jobs.all()) {
    const bool is_harmless = other.came_late && step == Step::kCollectEvidence;
    // If an operator closes a Remediation by its status, its Job runs until its deadline.
    const bool is_edited = stage_.wiped.contains(other.remediation) ||
                           stage_.closed_by_hand.contains(other.remediation);
    const bool is_there =
        !other.is_over && !is_harmless && !is_edited && other.node == node && other.step == step;
    require(!is_there, "one-job", what + " was made, and there is one already");
  }
  check_asked(remediation, step, what);
  intended_[key_of(remediation, step)] = stage_.tick;
  if (step == Step::kGpuReset) check_operands(stage_, node, what);
  if (step == Step::kGpuReset && owner->status.find(step) != nullptr) check_reset(*owner, what);
  stage_.jobs.add({.name = string_at(job["metadata"], "name"),
                   .uid = string_at(job["metadata"], "uid"),
                   .remediation = remediation,
                   .remediation_uid = owner->uid,
                   .step = step,
                   .node = node,
                   .node_uid = owner->node_uid,
                   .instance = owner->instance_id,
                   .boot = fakes::label_of(job, "gpuward.dev/boot-id"),
                   .deadline = stage_.clock.steady() +
                               seconds(spec["activeDeadlineSeconds"].get<std::int64_t>()),
                   .runs_in = {},
                   .came_late = !owner->open() || !has_intent(*owner, step)});
}

// Judges by the time when the request was sent: the sender cannot know how long it takes, nor of an
// edit after the permit's last read.
bool JobRules::is_intended(const Remediation& owner, Step step) const {
  if (has_intent(owner, step)) return true;
  const Tick read = stage_.looks.back()->remediation_read;
  const auto wiped = stage_.wiped.find(owner.name);
  if (wiped != stage_.wiped.end() && read > 0 && wiped->second > read) return true;
  const auto withdrawn = withdrawn_.find(key_of(owner.name, step));
  return withdrawn != withdrawn_.end() && withdrawn->second > stage_.looks.back()->sent;
}

// The owner was deleted between the permit and the Job; the garbage collector deletes the Job.
bool JobRules::was_deleted_since_read(const std::string& remediation) const {
  const auto deleted = stage_.deleted.find(remediation);
  const Tick read = stage_.looks.back()->remediation_read;
  return deleted != stage_.deleted.end() && read > 0 && deleted->second > read;
}

// The replica read all that may forbid the Job after the intent, and after any earlier attempt.
void JobRules::check_asked(const std::string& remediation, Step step,
                           const std::string& what) const {
  const Look& look = *stage_.looks.back();
  const auto since = intended_.find(key_of(remediation, step));
  const Tick asked = std::min({look.permitted, look.node_read, look.remediation_read});
  require(since != intended_.end() && asked > since->second, "leave",
          what + " was made and nobody has asked right before whether it may be");
  require(look.node.has_value() && !exclusion_of(*look.policy, *look.node), "excluded",
          what + " was made");
  require_not_excluded(stage_, *look.node, {asked, stage_.clock.steady()}, what + " was made");
}

void JobRules::check_reset(const Remediation& owner, const std::string& what) const {
  const Look& look = *stage_.looks.back();
  const StepRecord& record = *owner.status.find(Step::kGpuReset);
  const auto boot = record.facts.find("jobBootID");
  require(boot != record.facts.end() && look.node->boot_id == boot->second, "reset-boot",
          what + " was made, and the node is in another boot than the one it was decided on");
  for (const JobTruth& other : stage_.jobs.all()) {
    const bool is_same = other.step == Step::kGpuReset && other.instance == owner.instance_id;
    if (!is_same || other.remediation == owner.name || was_deleted(stage_, other)) continue;
    const Remediation& one = *stage_.truth.remediation(other.remediation);
    const StepRecord* const known = one.status.find(Step::kGpuReset);
    const bool has_treated =
        known != nullptr && known->result == StepResult::kDone && !known->drill;
    require(!has_treated, "repeated",
            what + " was made: the machine was reset for " + other.remediation + " already");
  }
}

void JobRules::on_written(const Remediation& before, const Remediation& after) {
  if (before.open() && !after.open()) check_left(after, {}, "is closed");
  for (const StepRecord& record : before.status.steps) {
    const StepRecord* const now = after.status.find(record.step);
    const bool is_withdrawn = now == nullptr || now->result != StepResult::kIntended;
    if (record.result == StepResult::kIntended && is_withdrawn)
      withdrawn_[key_of(after.name, record.step)] = stage_.tick;
  }
  for (const StepRecord& record : after.status.steps) {
    if (is_taint_or_cordon(record.step) || record.result != StepResult::kIntended) continue;
    const StepRecord* const known = before.status.find(record.step);
    if (known != nullptr && known->intent_at == record.intent_at) continue;
    intended_[key_of(after.name, record.step)] = stage_.tick;
    check_left(after, record.step, "goes on with " + std::string(to_string(record.step)));
  }
  if (after.status.escalated_to > before.status.escalated_to) check_escalation(before, after);
}

// A replica cannot know a Job whose name an edit removed from the record.
void JobRules::check_left(const Remediation& of, std::optional<Step> but,
                          const std::string& when) const {
  if (stage_.setting.has_clock_jumps || stage_.wiped.contains(of.name)) return;
  for (const JobTruth& job : stage_.jobs.all()) {
    const bool is_its = job.remediation == of.name && job.remediation_uid == of.uid;
    if (!is_its || job.is_over || job.step == but) continue;
    require(
        stage_.clock.steady() + kLateEnd >= job.deadline, "left-job",
        of.name + " " + when + ", and its Job " + std::string(to_string(job.step)) + " goes on");
  }
}

// Only a reset that began on the node and has ended proves anything about the machine.
void JobRules::check_escalation(const Remediation& before, const Remediation& after) const {
  const StepRecord* const reset = before.status.find(Step::kGpuReset);
  const bool has_failed = reset != nullptr && reset->result == StepResult::kFailed &&
                          reset->severity == before.acted_severity();
  if (!has_failed || reset->message.starts_with("an in-place reset is not attempted")) return;
  const JobTruth* const job = stage_.jobs.last(after.name, Step::kGpuReset);
  require(job != nullptr && job->runs_in, "escalation",
          after.name + " takes what is worse, and the Job of its reset never ran");
  require(job->is_over || stage_.clock.steady() + kLateEnd >= job->deadline, "escalation",
          after.name + " takes what is worse, and the Job of its reset goes on");
}

// Neither a verification nor a later run that passes clears the failure, unless the machine was
// restarted or its GPUs were reset since.
void JobRules::check_returned(const Remediation& owner, const kube::Node& node) const {
  bool has_failed = false;
  for (const JobTruth& job : stage_.jobs.all()) {
    if (job.remediation != owner.name || job.remediation_uid != owner.uid) continue;
    if (job.step == Step::kGpuReset && job.has_acted) has_failed = false;
    if (job.has_failed_check && job.runs_in == node.boot_id) has_failed = true;
  }
  require(!has_failed, "quarantine-failed",
          "node " + owner.node + " was returned, and its diagnostics have failed");
  check_earlier_nodes(owner, node);
}

// Considers diagnostics that the machine failed in this boot under an earlier Node, according to
// the records, unless an operator has answered them.
void JobRules::check_earlier_nodes(const Remediation& owner, const kube::Node& node) const {
  bool is_answered = owner.status.has_done(Step::kGpuReset);
  const Remediation* failed = nullptr;
  for (const auto& [name, one] : stage_.truth.remediations()) {
    const bool is_same_board = !node.system_uuid.empty() && one.system_uuid == node.system_uuid &&
                               one.instance_id == node.provider_id;
    if (!is_same_board && one.boot_id != node.boot_id) continue;
    const bool is_other_node = one.node_uid != owner.node_uid;
    const Phase phase = one.status.phase;
    is_answered |= phase == Phase::kCancelled || one.wish.machine_replaced ||
                   (phase == Phase::kReleased && is_other_node);
    if (phase == Phase::kSuperseded && is_other_node && has_failed_in(one, node.boot_id))
      failed = &one;
  }
  require(failed == nullptr || is_answered, "quarantine-failed",
          "node " + owner.node + " was returned, and its machine has failed diagnostics in " +
              (failed == nullptr ? "" : failed->name));
}

}  // namespace gpuward::remediator::simulation
