#include "remediator/sources/confirmed_ends.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace gpuward::remediator {

Result<IntakeCounts> ConfirmedEnds::take(std::span<const AlertSignal> signals,
                                         Clock::Steady deadline) {
  if (std::ranges::all_of(signals, std::mem_fn(&AlertSignal::firing)))
    return intake_.take(signals, deadline);
  const auto firing = alerts_.all_firing();
  std::vector<AlertSignal> confirmed;
  std::size_t ignored = 0;
  for (const AlertSignal& signal : signals) {
    const bool is_denied = !signal.firing && (!firing || firing->contains(signal.fingerprint));
    if (!is_denied) {
      confirmed.push_back(signal);
      continue;
    }
    ++ignored;
    if (observer_ != nullptr) observer_->on_ignored(signal, Ignored::kStillActive);
  }
  auto counts = intake_.take(confirmed, deadline);
  if (counts) counts->ignored += ignored;
  return counts;
}

}  // namespace gpuward::remediator
