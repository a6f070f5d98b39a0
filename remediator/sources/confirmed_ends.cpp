#include "remediator/sources/confirmed_ends.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace gpuward::remediator {

Result<IntakeCounts> ConfirmedEnds::take(std::span<const AlertSignal> orders,
                                         Clock::Steady deadline) {
  if (std::ranges::all_of(orders, std::mem_fn(&AlertSignal::firing)))
    return intake_.take(orders, deadline);
  const auto firing = alerts_.all_firing();
  std::vector<AlertSignal> confirmed;
  std::size_t ignored = 0;
  for (const AlertSignal& order : orders) {
    const bool is_denied = !order.firing && (!firing || firing->contains(order.fingerprint));
    if (!is_denied) {
      confirmed.push_back(order);
      continue;
    }
    ++ignored;
    if (observer_ != nullptr) observer_->on_ignored(order, Ignored::kStillActive);
  }
  auto counts = intake_.take(confirmed, deadline);
  if (counts) counts->ignored += ignored;
  return counts;
}

}  // namespace gpuward::remediator
