// The remediator's own metrics as families, from its counters and the state of the cluster. Pure;
// the listener for telemetry serves them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/metrics/family.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/exclusions.h"
#include "remediator/decide/budgets/ledger_slots.h"
#include "remediator/decide/waiting_count.h"
#include "remediator/inbox/sources/source_poll.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/model/step.h"
#include "remediator/notify/sink_worker.h"
#include "remediator/tell/page/counters.h"

namespace gpuward::remediator {

// The state at the moment of a scrape.
struct Standing {
  std::vector<ClusterView::Count> remediations;
  std::map<std::string, std::size_t> drills = {};  // by phase
  std::vector<Waiting> waiting = {};
  std::map<std::string, std::size_t> left_in_service = {};  // nodes, by rule
  std::vector<std::string> operands_paused = {};            // nodes
  std::size_t queue_length = 0;
  std::uint64_t events_lost = 0, audit_lines_lost = 0;
  bool ready = false;
  std::optional<bool> approvals_guarded = {};  // set if the policy needs approvals
  bool last_reload_good = true;
  std::optional<Clock::Wall> last_good_reload;
  Mode mode = Mode::kObserve;
  bool leads = false;
  std::optional<LedgerSlots::Spending> spending;  // of the replica that leads
  bool ledger_kept = true;                        // of the leading replica, at the last upkeep
  bool stopped = false;                           // of the leading replica, by the stop switch
  metrics::Family api_times = {};                 // of ApiTimes
  std::vector<SourceCounts> sources = {};
  std::vector<SinkTally> sinks = {};
  ExclusionList exclusions = {};  // in force
  TriageTally triage = {};
};

[[nodiscard]] metrics::Families to_families(const CounterValues& counters,
                                            const Standing& standing);

}  // namespace gpuward::remediator
