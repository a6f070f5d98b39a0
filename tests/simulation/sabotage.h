// The guards that a simulation can run without, one at a time: to show that each of them is needed
// and that an invariant notices. Nothing in the product knows of this; the parts around it are
// bent.
//
// What no invariant sees, and other tests hold: recoveries while the breaker is open; the age of a
// node; more alerts than are kept; which of two open Remediations of one node acts; TLS,
// credentials and rate limits of the webhook; the text of `explain` and the histograms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::remediator::simulation {

enum class Sabotage : std::uint8_t {
  kNone,
  kBudgets,           // every slot is given, without the ledger
  kCluster,           // no cap of the whole cluster
  kPool,              // no cap of a node pool
  kZone,              // no cap of a zone
  kRack,              // no cap of a rack
  kTaintCap,          // no cap of taints
  kTaintOrder,        // who waits for room for a taint is not seen by the others
  kCordonCap,         // no cap of cordons
  kStorm,             // no storm is ever seen
  kMode,              // every policy is read as of mode full
  kSilence,           // silenced alerts are read as active
  kWell,              // every report says that the node is healthy
  kSlots,             // the ledger is read as if nobody had a slot
  kWindows,           // the ledger is read as if nothing was ever begun
  kArrivals,          // the ledger is read as if no Remediation were new
  kAttempts,          // the ledger is read as if no machine was ever treated
  kBreaker,           // the circuit breaker is read as closed
  kLedgerVersion,     // the ledger is replaced without resourceVersion
  kLedgerMemory,      // the ledger is as old as the process
  kLease,             // a lease that another one has is read as free
  kFence,             // a replica writes whether it leads or not
  kCallFence,         // leave for a call is given whether the replica leads or not
  kStop,              // the stop switch is never seen
  kFreshness,         // every report is of this second
  kBoot,              // every report is of the boot that runs
  kSeverity,          // every report is as bad as can be
  kWitness,           // a line of the kernel log counts as a confirmed finding
  kNodeVersion,       // Node patches without resourceVersion
  kStatusVersion,     // status patches without resourceVersion
  kEvidenceVersion,   // evidence patches without resourceVersion
  kOnce,              // a step is begun again where it is to be watched
  kIntent,            // an intent is answered as written, and is not
  kUndoneByHand,      // a cordon or taint that a human took off is read as there
  kForeignCordon,     // a cordon that was there before is read as absent
  kPause,             // "pause" is not read
  kCancel,            // "cancel" is not read
  kExclusion,         // "managed=false" is not read
  kNodeIdentity,      // a node made anew is read with the UID of the one before
  kOtherRepairers,    // the signs of others at work are not read
  kApproval,          // every request for a yes is read as answered by one
  kGuard,             // approvals are taken for guarded
  kQuietReasons,      // a reason that is another one at every look
  kAnnouncement,      // nobody is told of anything
  kToldAgain,         // what was not told right after its write is read as told
  kTimeout,           // a step that goes on for ever, its intent always young
  kIntake,            // alerts are answered as accepted, and are not
  kDrained,           // a drain that has failed is read as done
  kMeasured,          // what is only latched is read as measured now
  kEndBudget,         // no cap of terminations
  kVolumes,           // volumes that are attached are not seen
  kEndOnce,           // an end is asked for again where it is to be watched
  kInstance,          // the cloud ends whichever machine has the node's name
  kProof,             // a replica believes of every machine that was to end that it is gone
  kNodeGone,          // a replica believes that the Node of a machine that ends is gone
  kReturned,          // no replica looks for machines that come back
  kKeptAlerts,        // alerts that Prometheus keeps count for the next machine
  kOldAlerts,         // alerts from before the Node was registered are not heard
  kBoards,            // the UUIDs of the firmware are not read
  kHistorySoak,       // a machine that has come back is verified at its first healthy look
  kVerified,          // no report verifies a machine that has come back
  kMachineReplaced,   // "machine-replaced" is not read
  kSerials,           // whoever names the GPUs of other machines is believed
  kReplacement,       // the wait for a replacement is not read
  kPairs,             // every test of two nodes is read as passed
  kEarlierEpisode,    // every end is said to be of now
  kLateRepeats,       // every alert that fires is said to have started now
  kConfirmedEnds,     // nobody asks Alertmanager whether an alert has ended
  kAbsent,            // nothing ends because Alertmanager has it no more
  kCleared,           // that what raised the severity is over is not read
  kAccepted,          // that a call was accepted is not read
  kCalled,            // every call is read as accepted
  kUnsettled,         // that it is too soon after the boot to judge a finding is not read
  kSettled,           // what the cloud says after an end was accepted is believed at once
  kLastPermit,        // no leave is asked for right before a call to the cloud
  kLateRestart,       // a restart of which no answer came is given up at once
  kClaims,            // what others count as their replacement is not seen
  kDrainedNode,       // to the permit of a removal the Node is always the one that is drained
  kPodIdentity,       // pods are removed by their name alone
  kTurns,             // every pod is listed as an ordinary one
  kProtection,        // that a pod's owner wants it to stay is not read
  kBudgetAnswer,      // that a disruption budget forbids an eviction is read as leave
  kWatchVersion,      // every watch begins with what changes from now on
  kDeletions,         // no watch tells of deletions
  kUnlisted,          // what a list has no more is not deleted
  kView,              // a watch that is dead counts as one that has nothing to say
  kSweep,             // nobody looks for taint and cordon without a record
  kRecordCordon,      // what the record says of the cordon is not read
  kPoll,              // nobody reads Alertmanager now and then
  kPrometheusAlerts,  // nobody reads Prometheus' own series of alerts
  kConditions,        // nobody looks at the conditions of Nodes
  kUnknownCondition,  // a condition that is Unknown is read as False
  kForeignAlerts,     // the policy has no rules for alerts of others
  kFailedAnswers,     // an answer that fails is read as one without alerts and lines
  kPartAnswers,       // an answer with warnings is read as a whole one
  kLogCursor,         // how far the log was read is not remembered
  kJobName,           // each try to make a Job gives it another name
  kJobPermit,         // no leave is asked for right before a Job is made
  kJobBoot,           // the boot that a reset was decided on is read as the one that runs
  kJobRun,            // the pod of a Job that was never started is read as running
  kLeftJobs,          // the end of a Job is answered as done, and is not
  kQuarantine,        // all diagnostics are read as passed
  kDaemonSets,        // pods of DaemonSets are listed as of a StatefulSet
  kTerminating,       // that a pod is ending already is not read
  kTolerations,       // which taints a pod tolerates is not read
  kCameSince,         // the pods that came since the drain are not listed before a step
  kEvictedAgain,      // every pod is read as the first of its owner
  kStepClock,         // the time of a drain is the wall clock's since its intent
  kDrainWords,        // a drain that has failed says nothing of the pods that are left
  kLookAgain,         // every look is followed by the next at once
  kVersionsBack,      // that versions have gone back is not read
  kLedgerCount,       // how often the ledger was written is not read
  kBeginAnew,         // a restore is noticed, and the breaker is not opened
  kTimedExclusion,    // the list of nodes that are kept away for a while is read as empty
  kLostList,          // that list, where it is deleted, is read as one without entries
  kWindow,            // every maintenance window is read as open
  kPoolMode,          // the modes of pools are not read
  kCooldown,          // no machine rests after a restart
  kMinHealthy,        // no pool has to keep healthy nodes
  kSinks,             // what is handed to the sinks is read as told
  kGiveBack,          // a restart of jobs that is left gives nothing back
  kForeignSuspend,    // a job that somebody else has suspended is read as suspended by gpuward
  kProofsOfDeath,     // every silent machine is read as proven down
  kSignsOfLife,       // nothing is read that says that a machine is up
  kOffProof,          // a machine that is down is read as without power
  kLeftOperands,      // operands that are left paused are not resumed
  kOperandPods,       // the pods of operands are not seen
  kOutOfService,      // the taint out-of-service is not taken off
  kCloudAtWork,       // nothing is read that clouds have announced of nodes that are not Ready
  kLeases,            // the Leases of all nodes are read as just renewed
  kPartition,         // the node whose proofs are read looks like the only silent one
  kAnnouncedBoot,     // what another machine or boot has read, or is stale, is read as of now
  kAnnouncedEarly,    // what is announced is read as of the day before
  kAnnouncedLate,     // what is announced is read as of the day after
  kAnnouncedOver,     // what is announced is read as over once the node is drained
  kAnnouncedEnds,     // that the Node still has what the record says is over is not read
  kAnnouncedKept,     // what is announced is never read as over
  kDrillLabel,        // every Node is read as one that allows drills
  kDrillReport,       // what was injected is in the report of real faults too
  kDrillSteps,        // that a step was begun in a drill is not read
  kDrillAlerts,       // what fires beside a drill is read as one
  kDisagreement,      // an annotation or taint that contradicts the record is read as it has them
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
