#include "remediator/cli/replay/history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

std::map<std::string, std::string> labels_of(const Json& metric) {
  std::map<std::string, std::string> labels;
  if (!metric.is_object()) return labels;
  for (const auto& [key, value] : metric.items()) {
    if (key != "__name__" && key != "alertstate" && value.is_string())
      labels[key] = value.get<std::string>();
  }
  return labels;
}

// Returns the times of the samples; their values are always 1. Nullopt if `values` is not a list of
// samples.
std::optional<std::vector<WallTime>> times_of(const Json& values) {
  if (!values.is_array()) return std::nullopt;
  std::vector<WallTime> times;
  for (const Json& sample : values) {
    const bool is_sample = sample.is_array() && sample.size() == 2 && sample[0].is_number();
    const double seconds = is_sample ? sample[0].get<double>() : -1;
    const bool is_a_time = seconds >= 0 && seconds < 1e10;  // NaN is not a time
    if (!is_a_time) return std::nullopt;
    times.emplace_back(std::chrono::milliseconds(std::llround(seconds * 1000)));
  }
  return times;
}

}  // namespace

std::string history_query() { return "ALERTS{alertstate=\"firing\"}"; }

Status AlertHistory::add(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = kMostBytes, .max_depth = 12});
  if (!root) return with_context("alert history", root.error());
  const Json& data = member_at(*root, "data");
  const Json& all = member_at(data, "result");
  if (string_at(*root, "status") != "success" || string_at(data, "resultType") != "matrix" ||
      !all.is_array()) {
    return fail(ErrorKind::kInvalid,
                "alert history: not a response from Prometheus /api/v1/query_range");
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto times = times_of(member_at(all[i], "values"));
    if (!times) {
      return fail(ErrorKind::kInvalid, "alert history: data.result[" + std::to_string(i) +
                                           "].values: not a list of samples");
    }
    if (auto added = add_series(i, labels_of(member_at(all[i], "metric")), *times); !added)
      return added;
  }
  return {};
}

Status AlertHistory::add_series(std::size_t index, const std::map<std::string, std::string>& labels,
                                const std::vector<WallTime>& times) {
  const std::string fingerprint = fingerprint_of(labels);
  std::vector<AlertEpisode>& episodes = by_fingerprint_[fingerprint];
  for (const WallTime at : times) {
    if (!episodes.empty() && at < episodes.back().last) {
      return fail(ErrorKind::kInvalid, "alert history: data.result[" + std::to_string(index) +
                                           "]: samples are not in time order");
    }
    if (!episodes.empty() && at - episodes.back().last <= gap_) {
      episodes.back().last = at;
      continue;
    }
    if (++episodes_ > kMostEpisodes) {
      return fail(ErrorKind::kTooLarge, "the history has more than " +
                                            std::to_string(kMostEpisodes) +
                                            " alerts: query a shorter time range");
    }
    episodes.push_back({.alert = {.firing = true,
                                  .labels = labels,
                                  .starts_at = at,
                                  .ends_at = {},
                                  .fingerprint = fingerprint},
                        .last = at});
  }
  return {};
}

std::vector<AlertEpisode> AlertHistory::take() {
  std::vector<AlertEpisode> all;
  for (auto& [fingerprint, episodes] : by_fingerprint_)
    std::ranges::move(episodes, std::back_inserter(all));
  by_fingerprint_.clear();
  std::ranges::sort(all, {}, [](const AlertEpisode& one) {
    return std::pair(one.starts_at(), std::string_view(one.alert.fingerprint));
  });
  return all;
}

}  // namespace gpuward::remediator
