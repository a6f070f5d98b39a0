// Finds failed diagnostics, and whether the machine was treated after the failure. A healthy report
// or a later passed run does not outweigh a failure while the machine is untreated. Pure; used by
// the decision and by the history of machines.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Fact of a Job: the boot ID of the node when the Job was started.
inline const std::string kJobBootFact = "jobBootID";
// Fact of a diagnostic: the boot ID in which its failure was found. The machine may restart while a
// diagnostic runs.
inline const std::string kFailedBootFact = "failedBootID";
// Fact of a diagnostic that was restarted after a failure and has not failed again: the time of the
// earlier failure. kFailedBootFact is then the boot ID of that failure.
inline const std::string kFailedAtFact = "failedAt";
// Fact with the number of resets and of reboots that had started when the diagnostic failed, for
// example "1 0". The counts are needed because clocks may go back.
inline const std::string kTreatmentsFact = "treatments";

// Returns whether `step` was started at `at` or later, and is done. The function ignores a step
// that was withdrawn later, because its recorded time is not the time of its action.
[[nodiscard]] bool was_done_since(const RemediationStatus& status, Step step, WallTime at);

// Returns the failed diagnostic of any severity, including drills and diagnostics that could not
// run; null if there is none.
[[nodiscard]] const StepRecord* failed_diagnostic(const Remediation& remediation);

// Returns the failed diagnostic; null if the machine was restarted or its GPUs were reset after the
// failure. `boot_id` is the current boot of the machine. If it is empty, only gpuward's own
// restarts count.
[[nodiscard]] const StepRecord* untreated_diagnostic(const Remediation& remediation,
                                                     std::string_view boot_id);

// Returns whether there is an untreated failed diagnostic with a Job that was started. A Job that
// never started, for example because its image was missing, must not quarantine a machine that
// returns as another Node.
[[nodiscard]] bool has_failed_in(const Remediation& remediation, std::string_view boot_id);

// Returns the failure as text, for example "reboot failed: it is not back after 15m". For a
// restarted diagnostic that has not failed again: "quarantine-job failed at
// 2026-11-27T18:00:00.000Z".
[[nodiscard]] std::string failure_text(const StepRecord& failed);

// Copies the failure of the earlier run `before` into `facts`, the facts of the run that starts
// now.
void keep_failure(const RemediationStatus& status, const StepRecord& before, Facts& facts);

// Records the failure of a run. A failed run replaces an earlier failure; a run that could not
// start keeps it.
void note_failure(const RemediationStatus& status, StepRecord& failed);

}  // namespace gpuward::remediator
