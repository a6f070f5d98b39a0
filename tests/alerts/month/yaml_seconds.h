// Durations in the files of Prometheus and Alertmanager.
#pragma once

#include "core/runtime/yaml.h"
#include "tests/alerts/month/moments.h"

namespace gpuward::alerts {

[[nodiscard]] inline seconds read_seconds(const YamlMap& map, const char* key,
                                          seconds preset = seconds::zero()) {
  std::chrono::milliseconds value = preset;
  map.read(key, value, std::chrono::milliseconds(0), std::chrono::hours(24 * 366));
  return std::chrono::duration_cast<seconds>(value);
}

}  // namespace gpuward::alerts
