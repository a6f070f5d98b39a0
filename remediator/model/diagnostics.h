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
// Of one that was begun again: when it failed before, and that boot is the one of then.
inline const std::string kFailedAtFact = "failedAt";

// The diagnostic that has failed, at whatever severity, and be it in a drill; also one that could
// not be run. Null: none.
[[nodiscard]] const StepRecord* failed_diagnostic(const Remediation& remediation);

// The same, but null where the machine was restarted since, by whomever, or its GPUs were reset.
// `boot_id` is the one that the machine is in; where it is empty only gpuward's own restarts count.
[[nodiscard]] const StepRecord* untreated_diagnostic(const Remediation& remediation,
                                                     std::string_view boot_id);

// Whether one has failed of which that is true, and has been run at all: a machine that joins as
// another Node is not kept out for a Job without an image.
[[nodiscard]] bool has_failed_in(const Remediation& remediation, std::string_view boot_id);

// "quarantine-job failed: xid 79".
[[nodiscard]] std::string failure_text(const StepRecord& failed);

// What a diagnostic that is begun with `facts` has to remember of the failure of an earlier run.
void keep_failure(const RemediationStatus& status, const StepRecord& before, Facts& facts);

}  // namespace gpuward::remediator
