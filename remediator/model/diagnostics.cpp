#include "remediator/model/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/runtime/clock.h"
#include "remediator/model/step_call.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

struct Failure {
  std::optional<WallTime> at;
  std::string_view boot_id;
  std::string_view treatments;  // kTreatmentsFact; empty in records of earlier releases
};

std::string treatments_of(const RemediationStatus& status) {
  const auto begun = [&](Step step) {
    const StepRecord* const record = status.find(step);
    return std::to_string(record == nullptr ? 0 : record->attempts);
  };
  return begun(Step::kGpuReset) + " " + begun(Step::kReboot);
}

std::optional<Failure> failure_of(const StepRecord& record) {
  if (!is_diagnostic(record.step)) return std::nullopt;
  const std::string_view treatments = value_at(record.facts, kTreatmentsFact);
  if (record.facts.contains(kFailedAtFact))
    return Failure{.at = parse_rfc3339(value_at(record.facts, kFailedAtFact)),
                   .boot_id = value_at(record.facts, kFailedBootFact),
                   .treatments = treatments};
  // A diagnostic that was withdrawn has shown nothing.
  if (record.result != StepResult::kFailed || record.severity == Severity::kNone)
    return std::nullopt;
  const std::string& own = value_at(record.facts, kFailedBootFact);
  return Failure{.at = record.finished_at,
                 .boot_id = own.empty() ? value_at(record.facts, kJobBootFact) : own,
                 .treatments = treatments};
}

// `begun`: how often the step had been started at the failure.
bool was_done_after(const RemediationStatus& status, Step step, std::string_view begun) {
  const StepRecord* const record = status.find(step);
  int before = 0;
  std::from_chars(begun.data(), begun.data() + begun.size(), before);
  return record != nullptr && record->result == StepResult::kDone &&
         record->severity != Severity::kNone && record->attempts > before;
}

// A Job that was never started (no image, no permission) says nothing about the machine.
bool has_run(const StepRecord& record) {
  return record.step == Step::kNcclPairs || record.facts.contains(kHasRunFact);
}

bool says_of_machine(const StepRecord& record) {
  return has_run(record) || record.facts.contains(kFailedAtFact);
}

bool was_treated_since(const RemediationStatus& status, const Failure& failure,
                       std::string_view boot_id) {
  const bool are_known = !failure.boot_id.empty() && !boot_id.empty();
  if (are_known && failure.boot_id != boot_id) return true;
  if (!failure.treatments.empty()) {
    const std::size_t space = failure.treatments.find(' ');
    return was_done_after(status, Step::kGpuReset, failure.treatments.substr(0, space)) ||
           was_done_after(status, Step::kReboot, failure.treatments.substr(space + 1));
  }
  return failure.at && (was_done_since(status, Step::kGpuReset, *failure.at) ||
                        was_done_since(status, Step::kReboot, *failure.at));
}

// Returns the first record whose failure counts; null if there is none.
const StepRecord* find_failed(const Remediation& remediation, const auto& counts) {
  const auto& steps = remediation.status.steps;
  const auto failed = std::ranges::find_if(steps, [&](const StepRecord& record) {
    const auto failure = failure_of(record);
    return failure && counts(record, *failure);
  });
  return failed == steps.end() ? nullptr : &*failed;
}

}  // namespace

bool was_done_since(const RemediationStatus& status, Step step, WallTime at) {
  const StepRecord* record = status.find(step);
  return record != nullptr && record->result == StepResult::kDone &&
         record->severity != Severity::kNone && record->intent_at >= at;
}

const StepRecord* failed_diagnostic(const Remediation& remediation) {
  return find_failed(remediation, [](const StepRecord&, const Failure&) { return true; });
}

const StepRecord* untreated_diagnostic(const Remediation& remediation, std::string_view boot_id) {
  return find_failed(remediation, [&](const StepRecord&, const Failure& failure) {
    return !was_treated_since(remediation.status, failure, boot_id);
  });
}

bool has_failed_in(const Remediation& remediation, std::string_view boot_id) {
  return find_failed(remediation, [&](const StepRecord& record, const Failure& failure) {
           return says_of_machine(record) &&
                  !was_treated_since(remediation.status, failure, boot_id);
         }) != nullptr;
}

std::string failure_text(const StepRecord& failed) {
  const std::string what = std::string(to_string(failed.step)) + " failed";
  const auto before = failed.facts.find(kFailedAtFact);
  if (before == failed.facts.end()) return what + ": " + failed.message;
  const bool fails_again =
      failed.result == StepResult::kFailed && failed.severity != Severity::kNone;
  return what + " at " + before->second + (fails_again ? ", and then: " + failed.message : "");
}

void keep_failure(const RemediationStatus& status, const StepRecord& before, Facts& facts) {
  const auto failure = failure_of(before);
  if (!failure || !says_of_machine(before) ||
      was_treated_since(status, *failure, value_at(facts, kJobBootFact)))
    return;
  facts[kFailedAtFact] = failure->at ? to_rfc3339_ms(*failure->at) : "";
  facts[kFailedBootFact] = std::string(failure->boot_id);
  if (!failure->treatments.empty()) facts[kTreatmentsFact] = std::string(failure->treatments);
}

void note_failure(const RemediationStatus& status, StepRecord& failed) {
  if (!is_diagnostic(failed.step)) return;
  if (has_run(failed)) failed.facts.erase(kFailedAtFact);
  if (!failed.facts.contains(kFailedAtFact)) failed.facts[kTreatmentsFact] = treatments_of(status);
}

}  // namespace gpuward::remediator
