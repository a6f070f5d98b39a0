#include "tests/simulation/restore_rules.h"

#include <algorithm>

#include "core/runtime/text.h"

namespace gpuward::remediator::simulation {
void RestoreRules::on_ledger_seen(const std::string& identity, const std::string& body) {
  const auto map = parse_json(body);
  if (!map) return;
  const auto writes = parse_integer<std::uint64_t>(string_at(member_at(*map, "data"), "writes"));
  std::uint64_t& most = seen_[identity];
  most = std::max(most, writes.value_or(0));
}

void RestoreRules::on_ledger_written(const std::string& identity) {
  if (stage_.restores > 0 && !witnesses_.contains(identity)) is_overtaken_ = true;
}

void RestoreRules::on_restored(const BackedUp& backup) {
  lost_.insert(taken_.begin() + static_cast<std::ptrdiff_t>(backup.calls), taken_.end());
  for (const auto& [identity, writes] : seen_) {
    if (writes > backup.writes && backup.writes > 0) witnesses_.insert(identity);
  }
  leader_ = stage_.holder;
  leader_notices_ = witnesses_.contains(leader_) || backup.goes_back;
  closings_ = stage_.truth.closings();
}

// Whether no operator has closed the breaker since the restore.
bool RestoreRules::is_guarded() const {
  return stage_.restores > 0 && stage_.truth.closings() == closings_;
}

void RestoreRules::check_call(const remediator::Machine& order, Step step) const {
  if (!is_guarded() || is_overtaken_ || !witnesses_.contains(stage_.looks.back()->identity)) return;
  require(!lost_.contains(order.provider_id), "restored",
          std::string(to_string(step)) + " of " + order.provider_id +
              " was asked for, and the cloud has taken one before etcd was restored");
}

void RestoreRules::check_begins_anew(const std::string& identity) const {
  require(!is_guarded() || stage_.truth.ledger().breaker.open, "restore-noticed",
          identity + " begins anew, and the circuit breaker is closed");
}

void RestoreRules::check_rest(const std::string& identity) const {
  const bool must_notice = leader_notices_ && identity == leader_ && is_guarded();
  require(!must_notice || is_overtaken_ || stage_.noticed.contains(identity), "restore-noticed",
          identity + " has seen what was before etcd was restored, and goes on");
}

}  // namespace gpuward::remediator::simulation
