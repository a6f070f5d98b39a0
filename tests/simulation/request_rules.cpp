#include "tests/simulation/request_rules.h"

#include <algorithm>

#include "remediator/act/case.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;

// For one look: each decision asks at most six questions, a slot reads and writes the ledger, each
// call reads three times for its permit, and each change is one write; twice that if another
// replica is faster.
constexpr int kMostInLook = 80;
// Its permit and its eviction; also sends evictions that another node's drain left waiting.
constexpr int kMostForAPod = 5;
// The shortest of the product's intervals, of a drain that has sent evictions. A step that is due
// at a certain time gets a look then, and perhaps one more because that was a moment too soon.
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
  // During this time other nodes are tainted first, and the status of this one waits for them.
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
