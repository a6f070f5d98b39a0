#include "remediator/inbox/sources/confirmed_ends.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <vector>

namespace gpuward::remediator {

// Firing alerts do not wait for the confirmation of ends.
Result<IntakeCounts> ConfirmedEnds::take(std::span<const AlertSignal> signals,
                                         Clock::Steady deadline) {
  std::vector<AlertSignal> fires, ends;
  std::ranges::partition_copy(signals, std::back_inserter(fires), std::back_inserter(ends),
                              std::mem_fn(&AlertSignal::firing));
  if (ends.empty()) return intake_.take(signals, deadline);
  auto counts = fires.empty() ? Result<IntakeCounts>() : intake_.take(fires, deadline);
  if (!counts) return counts;
  // Half of the time is for the confirmed ends.
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_.steady()) / 2;
  const auto firing = alerts_.all_firing(std::max(left, std::chrono::milliseconds(1)));
  const std::size_t ended = ends.size();
  std::erase_if(ends, [&](const AlertSignal& signal) {
    const bool is_denied = !firing || firing->contains(signal.fingerprint);
    if (is_denied && observer_ != nullptr) observer_->on_ignored(signal, Ignored::kStillActive);
    return is_denied;
  });
  counts->ignored += ended - ends.size();
  if (ends.empty()) return counts;
  const auto taken = intake_.take(ends, deadline);
  if (!taken) return taken;
  *counts += *taken;
  return counts;
}

}  // namespace gpuward::remediator
