#include "remediator/decide/budgets/breaker.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "core/runtime/yaml_scalars.h"

namespace gpuward::remediator {
namespace {

// If there is no census yet, only the fixed number counts. The limit stays below kMaxArrivals, so
// that no arrival is dropped before the breaker opens. If all nodes may fail at once, it never
// opens.
int allowed_arrivals(const BudgetLimits& limits, std::size_t nodes) {
  const Share& share = limits.breaker.share;
  if (is_breaker_off(limits)) return std::numeric_limits<int>::max();
  return std::min(std::max(share.nodes, at_most(share, nodes)), static_cast<int>(kMaxArrivals) - 1);
}

// The ledger keeps each arrival for as long as a caller may report it again.
void forget_arrivals(Ledger& ledger, const BudgetLimits& limits, WallTime now) {
  const auto longest = limits.breaker.window + kMostClockDifference;
  std::erase_if(ledger.arrivals,
                [&](const Arrival& arrival) { return now - arrival.at > longest; });
  if (ledger.arrivals.size() <= kMaxArrivals) return;
  std::ranges::sort(ledger.arrivals, {}, &Arrival::at);
  const auto surplus = static_cast<std::ptrdiff_t>(ledger.arrivals.size() - kMaxArrivals);
  ledger.arrivals.erase(ledger.arrivals.begin(), ledger.arrivals.begin() + surplus);
}

int unseen_nodes(const Ledger& ledger, const BudgetLimits& limits, WallTime now) {
  std::set<std::string_view> nodes;
  for (const Arrival& arrival : ledger.arrivals) {
    if (!arrival.seen && now - arrival.at <= limits.breaker.window) nodes.insert(arrival.node_uid);
  }
  return static_cast<int>(nodes.size());
}

}  // namespace

Ledger with_new_remediation(Ledger ledger, const Arrival& arrival, const BudgetLimits& limits,
                            std::size_t nodes, WallTime now) {
  forget_arrivals(ledger, limits, now);
  const bool is_known = std::ranges::any_of(ledger.arrivals, [&](const Arrival& known) {
    return known.remediation == arrival.remediation;
  });
  const int allowed = allowed_arrivals(limits, nodes);
  // A breaker that never opens records no arrivals: every slot rewrites the whole ledger.
  const bool is_off = allowed == std::numeric_limits<int>::max();
  if (is_known || is_off || now - arrival.at > limits.breaker.window) return ledger;
  ledger.arrivals.push_back(arrival);
  const int come = std::ssize(ledger.arrivals) > allowed ? unseen_nodes(ledger, limits, now) : 0;
  forget_arrivals(ledger, limits, now);
  if (come <= allowed) return ledger;
  return open_breaker(std::move(ledger),
                      std::to_string(come) + " nodes got a new Remediation within " +
                          to_duration_text(limits.breaker.window) + "; the limit is " +
                          std::to_string(allowed),
                      now);
}

Ledger open_breaker(Ledger ledger, std::string why, WallTime now) {
  if (!ledger.breaker.open) {
    ledger.breaker = {.open = true, .since = now, .why = std::move(why), .by = {}};
  }
  return ledger;
}

Result<Ledger> close_breaker(Ledger ledger, std::string by, WallTime now) {
  if (by.empty())
    return fail(ErrorKind::kInvalid,
                "closing the circuit breaker requires the name of the user who closes it");
  if (!ledger.breaker.open) return ledger;
  for (Arrival& arrival : ledger.arrivals) arrival.seen = true;
  ledger.breaker = {.open = false, .since = now, .why = {}, .by = std::move(by)};
  return ledger;
}

}  // namespace gpuward::remediator
