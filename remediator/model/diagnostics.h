// Diagnostics that have failed, and whether the machine was treated since. A healthy report or a
// later run that passes does not outweigh a failure in the same state of the machine. Pure; used by
// the decision and by what is known of machines under their earlier Nodes.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Fact of a Job: the boot of the node in which the Job was started.
inline const std::string kJobBootFact = "jobBootID";
// Fact of a diagnostic: the boot in which its failure was found. The machine may restart while a
// diagnostic runs.
inline const std::string kFailedBootFact = "failedBootID";
// Fact of a diagnostic that was restarted and has not run to a failure since: when it failed
// before. kFailedBootFact is then the boot of that failure.
inline const std::string kFailedAtFact = "failedAt";
// How many resets and reboots had been started when the diagnostic failed: "1 0". Clocks may go
// back in between.
inline const std::string kTreatmentsFact = "treatments";

// Whether `step` was started at `at` or later, and is done. A step that was withdrawn since counts
// for no severity, and its time is not that of what it did.
[[nodiscard]] bool was_done_since(const RemediationStatus& status, Step step, WallTime at);

// Returns the failed diagnostic, of any severity, drills included, and also one that could not be
// run. Null if there is none.
[[nodiscard]] const StepRecord* failed_diagnostic(const Remediation& remediation);

// The same, but null if the machine was restarted or its GPUs were reset since. `boot_id` is the
// boot that the machine is in; if it is empty, only gpuward's own restarts count.
[[nodiscard]] const StepRecord* untreated_diagnostic(const Remediation& remediation,
                                                     std::string_view boot_id);

// Whether there is an untreated failed diagnostic whose Job was started. A machine that is
// registered as another Node is not quarantined because an image was missing.
[[nodiscard]] bool has_failed_in(const Remediation& remediation, std::string_view boot_id);

// For any step "reboot failed: it is not back after 15m"; for a diagnostic that was restarted and
// has not run to a failure since, "quarantine-job failed at 2026-11-27T18:00:00.000Z".
[[nodiscard]] std::string failure_text(const StepRecord& failed);

// Adds to `facts`, those of a diagnostic that starts now, the failure of its earlier run `before`.
void keep_failure(const RemediationStatus& status, const StepRecord& before, Facts& facts);

// A run that has failed replaces an earlier failure; a run that could not be started keeps it.
void note_failure(const RemediationStatus& status, StepRecord& failed);

}  // namespace gpuward::remediator
