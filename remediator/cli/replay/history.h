// Which alerts fired when, from the series ALERTS of a Prometheus: the input of the replay. Made
// from answers of Prometheus' API. Pure.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// One alert from its first sample to its last.
struct AlertEpisode {
  Alert alert;  // starts_at: the first sample
  WallTime last;

  [[nodiscard]] WallTime starts_at() const { return alert.starts_at; }
};

// The query for /api/v1/query_range, or for /api/v1/query with a range; add() reads both answers.
[[nodiscard]] std::string history_query();

// Collects answers, which must be added in the order of their times.
class AlertHistory {
 public:
  // An alert without samples for longer than `gap` has ended; later samples are another episode.
  explicit AlertHistory(std::chrono::milliseconds gap) : gap_(gap) {}

  // Adds a matrix as Prometheus' API answers it. kInvalid if it is not one; kTooLarge if there are
  // more than kMostEpisodes.
  [[nodiscard]] Status add(std::string_view body);

  // Returns all, the earliest first.
  [[nodiscard]] std::vector<AlertEpisode> take();

  static constexpr std::size_t kMostEpisodes = 200'000;
  static constexpr std::size_t kMostBytes = 256U << 20U;  // of one answer

 private:
  [[nodiscard]] Status add_series(std::size_t index,
                                  const std::map<std::string, std::string>& labels,
                                  const std::vector<WallTime>& times);

  std::chrono::milliseconds gap_;
  std::map<std::string, std::vector<AlertEpisode>> by_fingerprint_;
  std::size_t episodes_ = 0;
};

}  // namespace gpuward::remediator
