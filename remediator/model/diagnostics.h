// Diagnostics that have failed, and whether anything was done to the machine since: a report that
// is healthy, or a later run that passes, does not outweigh a failure in the same state of the
// machine. Pure; used by the decision and by what is known of machines under their earlier Nodes.
#pragma once

#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The fact of a Job: the boot of the node that it was begun in.
inline const std::string kJobBootFact = "jobBootID";
// Of a diagnostic: the boot that it was found to have failed in; a machine may restart under it.
inline const std::string kFailedBootFact = "failedBootID";
// Of one that was begun again and has not run to a failure since: when it failed before.
// kFailedBootFact is the boot of then.
inline const std::string kFailedAtFact = "failedAt";
// How often a reset and a reboot had been begun when it failed: "1 0". Clocks may go back in
// between.
inline const std::string kTreatmentsFact = "treatments";

// Whether that step was begun at that time or later, and done. One that was withdrawn since counts
// for no severity, and its time is not that of what it did.
[[nodiscard]] bool was_done_since(const RemediationStatus& status, Step step, WallTime at);

// The diagnostic that has failed, at whatever severity, and be it in a drill; also one that could
// not be run. Null: none.
[[nodiscard]] const StepRecord* failed_diagnostic(const Remediation& remediation);

// The same, but null where the machine was restarted since, by whomever, or its GPUs were reset.
// `boot_id` is the one that the machine is in; where it is empty only gpuward's own restarts count.
[[nodiscard]] const StepRecord* untreated_diagnostic(const Remediation& remediation,
                                                     std::string_view boot_id);

// Whether there is such a one whose Job was started: a machine that is registered as another Node
// is not kept out because an image was missing.
[[nodiscard]] bool has_failed_in(const Remediation& remediation, std::string_view boot_id);

// Of any step: "reboot failed: it is not back after 15m"; of a diagnostic that was begun again and
// has not run to a failure since, "quarantine-job failed at 2026-11-27T18:00:00.000Z".
[[nodiscard]] std::string failure_text(const StepRecord& failed);

// What a diagnostic that is begun with `facts` has to remember of the failure of an earlier run.
void keep_failure(const RemediationStatus& status, const StepRecord& before, Facts& facts);

// A run that has failed takes the place of an earlier failure; one that could not be started leaves
// it.
void note_failure(const RemediationStatus& status, StepRecord& failed);

}  // namespace gpuward::remediator
