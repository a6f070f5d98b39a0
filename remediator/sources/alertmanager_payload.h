// The body of an Alertmanager webhook (payload version 4, as sent by 0.25 to 0.34) as plain values.
// Strict about what we read and about sizes, deaf to fields that newer versions add. Pure; used by
// the webhook and by the reader of /api/v2/alerts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::remediator {

struct Alert {
  bool firing = true;
  bool is_suppressed =
      false;  // silenced or inhibited, as the API says; a webhook says none of those
  std::map<std::string, std::string> labels;
  std::chrono::system_clock::time_point starts_at;
  std::chrono::system_clock::time_point ends_at;  // means something for a resolved alert only
  std::string fingerprint;                        // made from the labels where the sender gave none
};

struct Notification {
  std::string group_key;
  std::uint64_t truncated_alerts = 0;  // how many more there are that only the API knows
  std::vector<Alert> alerts;
};

struct PayloadLimits {
  std::size_t max_bytes = 16U << 20U;
  std::size_t max_depth = 16;
  std::size_t max_alerts = 10'000;
  std::size_t max_labels = 64;
  std::size_t max_label_bytes = 4096;
};

// What Alertmanager itself calls an alert of these labels: its FNV-1a over them, in order.
[[nodiscard]] std::string fingerprint_of(const std::map<std::string, std::string>& labels);

// kInvalid with the place of the fault (`alerts[3].labels.node: expected a string`), kTooLarge over
// a cap. Nothing of the sender's values is repeated: the answer ends in somebody's log.
[[nodiscard]] Result<Notification> decode_notification(std::string_view body,
                                                       const PayloadLimits& limits = {});

// The answer of GET /api/v2/alerts: alerts that fire, same limits.
[[nodiscard]] Result<std::vector<Alert>> decode_active_alerts(std::string_view body,
                                                              const PayloadLimits& limits = {});

}  // namespace gpuward::remediator
