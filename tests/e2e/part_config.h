// What Prometheus and Alertmanager of a Stack run on: the shipped files in alerts/ with nothing
// changed but addresses and one path. A text that is no longer where it was is an error, so that
// the test cannot drift away from what is shipped.
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

// What the configuration allows a fault of severity reboot to take from the metric to the
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
