// The configuration of Prometheus and Alertmanager in a Stack: the shipped files in alerts/, in
// which only addresses and one path are changed. If a text to change is missing, that is an error,
// so that the test cannot drift away from the shipped files.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/model/result.h"

namespace gpuward::e2e {

struct PrometheusTargets {
  std::vector<std::pair<std::string, std::string>> exporters;  // node, host:port
  std::string remediator;                                      // host:port of its telemetry
  std::vector<std::string> alertmanagers;                      // host:port
};

[[nodiscard]] Result<std::string> prometheus_config(const PrometheusTargets& targets);
[[nodiscard]] Result<std::string> alertmanager_config(const std::string& webhook_url,
                                                      const std::filesystem::path& token_file);

// The time that the configuration allows for a fault of severity reboot, from the metric to the
// notification.
struct ConfiguredIntervals {
  std::chrono::milliseconds scrape{0}, evaluation{0}, wait{0}, group_wait{0};
  [[nodiscard]] std::chrono::milliseconds sum() const {
    return scrape + evaluation + wait + group_wait;
  }
};

[[nodiscard]] Result<ConfiguredIntervals> configured_intervals();

[[nodiscard]] std::filesystem::path alerts_folder();

}  // namespace gpuward::e2e
