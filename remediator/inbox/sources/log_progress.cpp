#include "remediator/inbox/sources/log_progress.h"

#include <algorithm>

namespace gpuward::remediator {

std::int64_t LogProgress::oldest() const {
  return again ? std::min(position, again->from) : position;
}

void read_again_later(LogProgress& progress, std::int64_t from, Clock::Steady now) {
  if (progress.again) from = std::min(from, progress.again->from);
  progress.again = {.from = from, .next = now + kReadAgainEvery, .last = now + kLateAfterOutage};
}

void go_back_if_due(LogProgress& progress, std::int64_t earliest, Clock::Steady now) {
  auto& again = progress.again;
  if (!again || progress.is_behind || now < again->next) return;
  progress.position = std::min(progress.position, std::max(again->from, earliest));
  again->next = now + kReadAgainEvery;
  if (now >= again->last) again.reset();
}

}  // namespace gpuward::remediator
