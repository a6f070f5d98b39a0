#include "tests/simulation/request_rules.h"

#include <algorithm>

#include "remediator/execution/case.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;

// Of one look: each decision asks at most six questions, the ledger is read and written for a
// slot, each call asks for a permit of three reads, each change is one write; twice that where
// another replica is faster.
constexpr int kMostInLook = 80;
// Its permit and itself; what another node's drain has left waiting is sent as well.
constexpr int kMostForAPod = 5;
// The shortest of the product's intervals: of a drain that has sent evictions. What is due at a
// certain time is looked at then, and perhaps once more because it was a moment too soon.
constexpr milliseconds kShortestInterval{1'000};
constexpr int kMostHasty = 3;

}  // namespace

void RequestRules::on_request() {
  Look& look = *stage_.looks.back();
  if (!stage_.is_quiet || look.subject.empty()) return;
  const int most = kMostInLook + kMostForAPod * static_cast<int>(stage_.pods.all().size());
  ++look.requests;
  require(look.requests <= most, "requests",
          look.who + " has sent " + std::to_string(look.requests) + " requests in one look at " +
              look.subject);
}

void RequestRules::on_looked(const std::string& node, bool has_changed, milliseconds wait) {
  // So long other nodes are tainted first, and what is said of this one waits for them.
  const WallTime since = stage_.clock.wall() - kTaintsFirst;
  const bool is_young = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    return one.node == node && one.open() && one.created >= since;
  });
  int& hasty = hasty_[node];
  hasty = has_changed || wait >= (is_young ? kStormInterval : kShortestInterval) ? 0 : hasty + 1;
  require(hasty <= kMostHasty, "hasty",
          node + " is looked at again after " + std::to_string(wait.count()) +
              " ms although nothing has changed, again and again");
}

}  // namespace gpuward::remediator::simulation
