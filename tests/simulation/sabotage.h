// The guards that a simulation can run without, one at a time, to show that each of them is needed
// and that an invariant notices its absence. Nothing in the product knows of this; the parts around
// it are bent.
//
// No invariant sees the following, and other tests check it: recoveries while the breaker is open;
// the age of a node; more alerts than a record keeps; the choice between two open Remediations of
// one node; TLS, credentials and rate limits of the webhook; the text of `explain`; and the
// histograms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator::simulation {

enum class Sabotage : std::uint8_t {
  kNone,
  kBudgets,           // each request gets a slot, without the ledger
  kCluster,           // no cap of the whole cluster
  kPool,              // no cap of a node pool
  kZone,              // no cap of a zone
  kRack,              // no cap of a rack
  kTaintCap,          // no cap of taints
  kTaintOrder,        // a wait for room for a taint is hidden from the others
  kCordonCap,         // no cap of cordons
  kStorm,             // no storm is detected
  kMode,              // every policy is read in mode full
  kSilence,           // silenced alerts are read as active
  kWell,              // every report says that the node is healthy
  kSlots,             // the ledger is read without slots
  kWindows,           // the ledger is read without starts
  kArrivals,          // the ledger is read without new Remediations
  kAttempts,          // the ledger is read without treated machines
  kBreaker,           // the circuit breaker is read as closed
  kLedgerVersion,     // the ledger is replaced without resourceVersion
  kLedgerMemory,      // the ledger is as old as the process
  kLease,             // another replica's lease is read as free
  kFence,             // a replica writes even if it does not lead
  kCallFence,         // a call gets its permit even if the replica does not lead
  kStop,              // the stop switch is read as off
  kFreshness,         // every report is read as one of this second
  kBoot,              // every report is read as one of the current boot
  kSeverity,          // every report has the worst severity
  kWitness,           // a line of the kernel log counts as a confirmed finding
  kNodeVersion,       // Node patches without resourceVersion
  kStatusVersion,     // status patches without resourceVersion
  kEvidenceVersion,   // evidence patches without resourceVersion
  kOnce,              // a step that should be watched starts once more
  kIntent,            // an intent is answered as written although it is not
  kUndoneByHand,      // a cordon or taint that an operator removed is read as present
  kForeignCordon,     // an earlier cordon is read as absent
  kPause,             // "pause" is not read
  kCancel,            // "cancel" is not read
  kExclusion,         // "managed=false" is not read
  kNodeIdentity,      // a node that was made again is read with the old UID
  kOtherRepairers,    // the signs of other repairers are not read
  kApproval,          // every request for approval is read as approved
  kGuard,             // approvals are read as guarded
  kQuietReasons,      // the reason differs at every look
  kAnnouncement,      // no notification is sent
  kToldAgain,         // a failed notification is read as sent
  kTimeout,           // a step never ends, because its intent is always new
  kIntake,            // alerts are answered as accepted although they are not
  kDrained,           // a failed drain is read as done
  kMeasured,          // a latched finding is read as measured now
  kEndBudget,         // no cap of terminations
  kVolumes,           // attached volumes are not seen
  kEndOnce,           // an end that should be watched is requested once more
  kInstance,          // the cloud ends the machine that has the node's name
  kProof,             // a replica takes every machine that should end for gone
  kNodeGone,          // a replica takes the Node of a machine that ends for gone
  kReturned,          // no replica checks for machines that come back
  kKeptAlerts,        // kept alerts of Prometheus count for the next machine
  kOldAlerts,         // alerts from before the Node's registration are ignored
  kBoards,            // the UUIDs of the firmware are not read
  kHistorySoak,       // a machine that has come back is verified at its first healthy look
  kVerified,          // no report verifies a machine that has come back
  kMachineReplaced,   // "machine-replaced" is not read
  kSerials,           // a node that reports other machines' GPUs is believed
  kReplacement,       // the policy is read without a wait for a replacement
  kPairs,             // every test of two nodes is read as passed
  kEarlierEpisode,    // every end is read as one of now
  kLateRepeats,       // every firing alert is read as started now
  kConfirmedEnds,     // no replica checks an end with Alertmanager
  kAbsent,            // no alert ends because Alertmanager lost it
  kCleared,           // the lowered severity is not read
  kAccepted,          // the answer that a call was accepted is not read
  kCalled,            // every call is read as accepted
  kUnsettled,         // every finding counts at once, even right after the boot
  kSettled,           // the cloud's answer right after an accepted end is believed
  kLastPermit,        // no permit is requested right before a call to the cloud
  kLateRestart,       // a restart without an answer fails at once
  kClaims,            // the claims of others on a replacement are not seen
  kDrainedNode,       // the permit of a removal always sees the drained node
  kPodIdentity,       // pods are removed by their name alone
  kTurns,             // every pod is listed as an ordinary one
  kProtection,        // a pod's protection by its owner is not read
  kBudgetAnswer,      // a refusal by a disruption budget is read as permission
  kWatchVersion,      // every watch begins with the next changes
  kDeletions,         // no watch sends deletions
  kUnlisted,          // an object that a list lacks is not deleted
  kView,              // a dead watch counts as one without changes
  kSweep,             // taint and cordon without a record are not searched
  kRecordCordon,      // the record's cordon is not read
  kPoll,              // Alertmanager is not polled
  kPrometheusAlerts,  // Prometheus' own alert series are not read
  kConditions,        // the conditions of Nodes are not read
  kUnknownCondition,  // a condition that is Unknown is read as False
  kForeignAlerts,     // the policy has no rules for others' alerts
  kFailedAnswers,     // a failed answer is read as one without alerts and lines
  kPartAnswers,       // a partial answer with warnings is read as complete
  kLogCursor,         // the position in the log is not remembered
  kJobName,           // each attempt to make a Job uses another name
  kJobPermit,         // no permit is requested right before a Job is made
  kJobBoot,           // the current boot is read as the one of the reset's decision
  kJobRun,            // a Job's pod that never started is read as running
  kLeftJobs,          // the deletion of a Job is answered as done although it is not
  kQuarantine,        // all diagnostics are read as passed
  kDaemonSets,        // pods of DaemonSets are listed as of a StatefulSet
  kTerminating,       // pods that terminate already are read as running
  kTolerations,       // the taints that a pod tolerates are not read
  kCameSince,         // the pods that came since the drain are not listed before a step
  kEvictedAgain,      // every pod is read as the first of its owner
  kStepClock,         // a drain's time is the wall clock's since its intent
  kDrainWords,        // a failed drain does not name the pods that are left
  kLookAgain,         // each look is followed by the next at once
  kVersionsBack,      // lowered versions are not noticed
  kLedgerCount,       // the ledger's count of writes is not read
  kBeginAnew,         // a restore is noticed without opening the breaker
  kTimedExclusion,    // the list of exclusions is read as empty
  kLostList,          // a deleted list of exclusions is read as one without entries
  kWindow,            // every maintenance window is read as open
  kPoolMode,          // the modes of pools are not read
  kCooldown,          // no machine has a cooldown after a restart
  kMinHealthy,        // no pool has a minimum of healthy nodes
  kSinks,             // a notification counts as sent before a sink accepts it
  kGiveBack,          // an abandoned restart of jobs resumes nothing
  kForeignSuspend,    // a job that another user suspended is read as suspended by gpuward
  kProofsOfDeath,     // every silent machine is read as proven down
  kSignsOfLife,       // signs that a machine is up are not read
  kOffProof,          // a machine that is down is read as powered off
  kLeftOperands,      // left paused operands are not resumed
  kOperandPods,       // the pods of operands are not seen
  kOutOfService,      // the taint out-of-service is not removed
  kCloudAtWork,       // announcements for nodes that are not Ready are not read
  kLeases,            // the Leases of all nodes are read as just renewed
  kPartition,         // the node whose proofs are read looks like the only silent one
  kAnnouncedBoot,   // another machine's, another boot's or a stale announcement is read as current
  kAnnouncedEarly,  // announcements are read as a day earlier
  kAnnouncedLate,   // announcements are read as a day later
  kAnnouncedOver,   // announcements are read as over once the node is drained
  kAnnouncedEnds,   // announcements that the record calls over are hidden on the Node
  kAnnouncedKept,   // announcements are never read as over
  kDrillLabel,      // every Node is read as allowing drills
  kDrillReport,     // an injected fault is in the report of real faults too
  kDrillSteps,      // steps of drills are read as real
  kDrillAlerts,     // alerts beside a drill are read as drills
  kDisagreement,    // an annotation or taint that contradicts the record is read as matching
};

struct SabotageName {
  Sabotage sabotage;
  std::string_view name;
};

inline constexpr auto kSabotages = std::to_array<SabotageName>({
    {Sabotage::kBudgets, "budgets"},
    {Sabotage::kCluster, "cluster"},
    {Sabotage::kPool, "pool"},
    {Sabotage::kZone, "zone"},
    {Sabotage::kRack, "rack"},
    {Sabotage::kTaintCap, "taint-cap"},
    {Sabotage::kTaintOrder, "taint-order"},
    {Sabotage::kCordonCap, "cordon-cap"},
    {Sabotage::kStorm, "storm"},
    {Sabotage::kMode, "mode"},
    {Sabotage::kSilence, "silence"},
    {Sabotage::kWell, "well"},
    {Sabotage::kSlots, "slots"},
    {Sabotage::kWindows, "windows"},
    {Sabotage::kArrivals, "arrivals"},
    {Sabotage::kAttempts, "attempts"},
    {Sabotage::kBreaker, "breaker"},
    {Sabotage::kLedgerVersion, "ledger-version"},
    {Sabotage::kLedgerMemory, "ledger-memory"},
    {Sabotage::kLease, "lease"},
    {Sabotage::kFence, "fence"},
    {Sabotage::kCallFence, "call-fence"},
    {Sabotage::kStop, "stop"},
    {Sabotage::kFreshness, "freshness"},
    {Sabotage::kBoot, "boot"},
    {Sabotage::kSeverity, "severity"},
    {Sabotage::kWitness, "witness"},
    {Sabotage::kNodeVersion, "node-version"},
    {Sabotage::kStatusVersion, "status-version"},
    {Sabotage::kEvidenceVersion, "evidence-version"},
    {Sabotage::kOnce, "once"},
    {Sabotage::kIntent, "intent"},
    {Sabotage::kUndoneByHand, "undone-by-hand"},
    {Sabotage::kForeignCordon, "foreign-cordon"},
    {Sabotage::kPause, "pause"},
    {Sabotage::kCancel, "cancel"},
    {Sabotage::kExclusion, "exclusion"},
    {Sabotage::kNodeIdentity, "node-identity"},
    {Sabotage::kOtherRepairers, "other-repairers"},
    {Sabotage::kApproval, "approval"},
    {Sabotage::kGuard, "approval-guard"},
    {Sabotage::kQuietReasons, "quiet-reasons"},
    {Sabotage::kAnnouncement, "announcement"},
    {Sabotage::kToldAgain, "told-again"},
    {Sabotage::kTimeout, "timeout"},
    {Sabotage::kIntake, "intake"},
    {Sabotage::kDrained, "drained"},
    {Sabotage::kMeasured, "measured"},
    {Sabotage::kEndBudget, "terminate-budget"},
    {Sabotage::kVolumes, "volumes"},
    {Sabotage::kEndOnce, "end-once"},
    {Sabotage::kInstance, "instance"},
    {Sabotage::kProof, "proof"},
    {Sabotage::kNodeGone, "node-gone"},
    {Sabotage::kReturned, "returned"},
    {Sabotage::kKeptAlerts, "kept-alerts"},
    {Sabotage::kOldAlerts, "old-alerts"},
    {Sabotage::kBoards, "boards"},
    {Sabotage::kVerified, "verified"},
    {Sabotage::kHistorySoak, "history-soak"},
    {Sabotage::kMachineReplaced, "machine-replaced"},
    {Sabotage::kSerials, "serials"},
    {Sabotage::kReplacement, "replacement"},
    {Sabotage::kPairs, "pairs"},
    {Sabotage::kAccepted, "accepted"},
    {Sabotage::kCalled, "called"},
    {Sabotage::kUnsettled, "unsettled"},
    {Sabotage::kSettled, "settled"},
    {Sabotage::kLateRestart, "late-restart"},
    {Sabotage::kLastPermit, "last-permit"},
    {Sabotage::kClaims, "claims"},
    {Sabotage::kDrainedNode, "drained-node"},
    {Sabotage::kPodIdentity, "pod-identity"},
    {Sabotage::kTurns, "turns"},
    {Sabotage::kProtection, "protection"},
    {Sabotage::kBudgetAnswer, "budget-answer"},
    {Sabotage::kWatchVersion, "watch-version"},
    {Sabotage::kDeletions, "deletions"},
    {Sabotage::kUnlisted, "unlisted"},
    {Sabotage::kView, "view"},
    {Sabotage::kEarlierEpisode, "earlier-episode"},
    {Sabotage::kLateRepeats, "late-repeats"},
    {Sabotage::kConfirmedEnds, "confirmed-ends"},
    {Sabotage::kAbsent, "absent"},
    {Sabotage::kCleared, "cleared"},
    {Sabotage::kSweep, "sweep"},
    {Sabotage::kRecordCordon, "record-cordon"},
    {Sabotage::kJobName, "job-name"},
    {Sabotage::kJobPermit, "job-permit"},
    {Sabotage::kJobBoot, "job-boot"},
    {Sabotage::kJobRun, "job-run"},
    {Sabotage::kLeftJobs, "left-jobs"},
    {Sabotage::kQuarantine, "quarantine"},
    {Sabotage::kDaemonSets, "daemon-sets"},
    {Sabotage::kTerminating, "terminating"},
    {Sabotage::kTolerations, "tolerations"},
    {Sabotage::kCameSince, "came-since"},
    {Sabotage::kEvictedAgain, "evicted-again"},
    {Sabotage::kStepClock, "step-clock"},
    {Sabotage::kDrainWords, "drain-words"},
    {Sabotage::kLookAgain, "look-again"},
    {Sabotage::kDisagreement, "disagreement"},
    {Sabotage::kProofsOfDeath, "proofs-of-death"},
    {Sabotage::kSignsOfLife, "signs-of-life"},
    {Sabotage::kOffProof, "off-proof"},
    {Sabotage::kLeftOperands, "left-operands"},
    {Sabotage::kOperandPods, "operand-pods"},
    {Sabotage::kOutOfService, "out-of-service"},
    {Sabotage::kCloudAtWork, "cloud-at-work"},
    {Sabotage::kLeases, "leases"},
    {Sabotage::kPartition, "partition"},
    {Sabotage::kAnnouncedBoot, "announced-boot"},
    {Sabotage::kAnnouncedEarly, "announced-early"},
    {Sabotage::kAnnouncedLate, "announced-late"},
    {Sabotage::kAnnouncedOver, "announced-over"},
    {Sabotage::kAnnouncedEnds, "announced-ends"},
    {Sabotage::kAnnouncedKept, "announced-kept"},
    {Sabotage::kDrillLabel, "drill-label"},
    {Sabotage::kDrillReport, "drill-report"},
    {Sabotage::kDrillSteps, "drill-steps"},
    {Sabotage::kDrillAlerts, "drill-alerts"},
    {Sabotage::kPoll, "poll"},
    {Sabotage::kPrometheusAlerts, "prometheus-alerts"},
    {Sabotage::kConditions, "conditions"},
    {Sabotage::kUnknownCondition, "unknown-condition"},
    {Sabotage::kForeignAlerts, "foreign-alerts"},
    {Sabotage::kFailedAnswers, "failed-answers"},
    {Sabotage::kPartAnswers, "part-answers"},
    {Sabotage::kLogCursor, "log-cursor"},
    {Sabotage::kVersionsBack, "versions-back"},
    {Sabotage::kLedgerCount, "ledger-count"},
    {Sabotage::kBeginAnew, "begin-anew"},
    {Sabotage::kTimedExclusion, "timed-exclusion"},
    {Sabotage::kLostList, "lost-list"},
    {Sabotage::kWindow, "window"},
    {Sabotage::kPoolMode, "pool-mode"},
    {Sabotage::kCooldown, "cooldown"},
    {Sabotage::kMinHealthy, "min-healthy"},
    {Sabotage::kSinks, "sinks"},
    {Sabotage::kGiveBack, "give-back"},
    {Sabotage::kForeignSuspend, "foreign-suspend"},
});

[[nodiscard]] constexpr std::optional<Sabotage> parse_sabotage(std::string_view name) {
  for (const SabotageName& known : kSabotages) {
    if (known.name == name) return known.sabotage;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator::simulation
