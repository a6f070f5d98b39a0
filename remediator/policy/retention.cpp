#include "remediator/policy/retention.h"

#include <algorithm>

namespace gpuward::remediator {

std::vector<const Remediation*> to_forget(std::span<const Remediation> all,
                                          const Retention& retention, WallTime now) {
  std::vector<const Remediation*> closed;
  for (const Remediation& one : all) {
    const bool is_over = !one.open() && !one.deleting && one.status.closed_at && !one.any_firing();
    if (is_over) closed.push_back(&one);
  }
  std::ranges::sort(closed, {}, [](const Remediation* one) { return *one->status.closed_at; });
  const auto surplus = static_cast<std::int64_t>(closed.size()) - retention.most;
  std::vector<const Remediation*> forget;
  for (const Remediation* one : closed) {
    const bool is_old = now - *one->status.closed_at > retention.age;
    const bool is_surplus = static_cast<std::int64_t>(forget.size()) < surplus;
    if (forget.size() == kMostForgotten || !(is_old || is_surplus)) break;
    forget.push_back(one);
  }
  return forget;
}

}  // namespace gpuward::remediator
