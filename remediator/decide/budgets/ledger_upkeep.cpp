#include "remediator/decide/budgets/ledger_upkeep.h"

#include <utility>

#include "remediator/decide/budgets/breaker.h"

namespace gpuward::remediator {
namespace {

bool binds_without_record(const Slot& slot, const Roll& roll, const Fleet& fleet,
                          const BudgetLimits& limits, WallTime now) {
  if (slot.since > roll.taken_at - kRollMargin) return true;
  const FleetNode* node = fleet.find(slot.node_uid);
  if (node != nullptr && node->healthy()) return false;
  return now - slot.since < limits.orphan_hold;
}

Slot slot_of(const SpentRecord& record, const RecordedStep& step) {
  return {.remediation = record.remediation,
          .node_uid = record.node_uid,
          .place = record.place,
          .impact = step.impact,
          .since = step.at};
}

Ledger with_record(Ledger ledger, const SpentRecord& record) {
  for (const RecordedStep& step : record.steps) {
    if (step.impact == Impact::kTaint) continue;
    ledger = with_slot(std::move(ledger), slot_of(record, step));
    if (!step.treatment) continue;
    ledger = with_attempt(std::move(ledger),
                          {record.remediation, record.hardware, *step.treatment, step.at});
  }
  if (record.open) return ledger;
  return without_slot(std::move(ledger), record.remediation);
}

}  // namespace

Ledger settled(Ledger ledger, const Roll& roll, const Fleet& fleet, const BudgetLimits& limits,
               WallTime now) {
  const auto is_free = [&](const Slot& slot) {
    if (roll.open.contains(slot.remediation)) return false;
    if (roll.closed.contains(slot.remediation)) return true;
    return !binds_without_record(slot, roll, fleet, limits, now);
  };
  std::erase_if(ledger.slots, is_free);
  std::erase_if(ledger.taints, is_free);
  return ledger;
}

Ledger with_recorded_taints(Ledger ledger, std::span<const SpentRecord> records) {
  for (const SpentRecord& record : records) {
    for (const RecordedStep& step : record.steps) {
      if (record.open && step.impact == Impact::kTaint)
        ledger = with_slot(std::move(ledger), slot_of(record, step));
    }
  }
  return ledger;
}

Ledger rebuilt(const Ledger& ledger, std::span<const SpentRecord> records, WallTime now) {
  Ledger next = ledger;
  for (const SpentRecord& record : records) next = with_record(std::move(next), record);
  const bool is_known = next == ledger;
  next = with_recorded_taints(std::move(next), records);
  if (is_known) return next;
  return open_breaker(std::move(next),
                      "the ledger was lost and is rebuilt from the existing Remediations: budget "
                      "usage by deleted Remediations is unknown",
                      now);
}

}  // namespace gpuward::remediator
