#include "bench/measured_prometheus.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <sstream>
#include <utility>

#include "tests/alerts/alert_rules.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"

namespace gpuward::bench {
namespace {

constexpr std::chrono::seconds kFillLimit{240};

std::string url_encoded_brackets(std::string text) {
  text = std::regex_replace(text, std::regex("\\["), "%5B");
  return std::regex_replace(text, std::regex("\\]"), "%5D");
}

}  // namespace

MeasuredPrometheus::MeasuredPrometheus(ScrapedFleet fleet)
    : fleet_(std::move(fleet)), address_("127.0.0.1:" + std::to_string(support::free_port())) {
  auto process =
      support::Process::spawn({.argv = {support::folder_of(support::kPrometheus) / "prometheus",
                                        "--config.file=" + write_config(),
                                        "--storage.tsdb.path=" + (folder_ / "data").string(),
                                        "--web.listen-address=" + address_, "--log.level=error"}});
  if (!process) {
    std::cerr << process.error().message << "\n";
    std::exit(1);
  }
  process_ = *std::move(process);
}

bool MeasuredPrometheus::is_full() const {
  const auto nodes = static_cast<double>(fleet_.nodes);
  return support::poll_until([&] { return query("sum(up)") == nodes; }, kFillLimit);
}

double MeasuredPrometheus::scrapes_in_time() const {
  const double a_minute = 60.0 / fleet_.interval_seconds;
  return query("sum(sum_over_time(up[60s]))") / a_minute / static_cast<double>(fleet_.nodes);
}

Evaluation MeasuredPrometheus::newest_evaluation() const {
  const auto durations = own("prometheus_rule_group_last_duration_seconds");
  const auto intervals = own("prometheus_rule_group_interval_seconds");
  Evaluation out;
  for (std::size_t i = 0; i < std::min(durations.size(), intervals.size()); ++i) {
    out.seconds += durations[i];
    out.busiest = std::max(out.busiest, durations[i] / intervals[i]);
  }
  return out;
}

double MeasuredPrometheus::series() const {
  const auto values = own("prometheus_tsdb_head_series");
  return values.empty() ? 0 : values.front();
}

std::string MeasuredPrometheus::write_config() const {
  const int interval = fleet_.interval_seconds;
  std::ostringstream text;
  text << "global: {scrape_interval: " << interval
       << "s, scrape_timeout: " << std::max(1, interval - 1)
       << "s, evaluation_interval: " << kShippedInterval << "s}\nrule_files: ["
       << alerts::rules_file().string()
       << "]\nscrape_configs:\n  - job_name: gpuward-exporter\n    static_configs:\n";
  for (std::size_t node = 0; node < fleet_.nodes; ++node) {
    const bool is_bad = node % fleet_.one_is_bad_of == 0;
    text << "      - {targets: ['127.0.0.1:" << fleet_.port << "'], labels: {node: gpu-" << node
         << ", instance: 'gpu-" << node << ":10980'"
         << ", __metrics_path__: " << (is_bad ? fleet_.bad_path : fleet_.well_path) << "}}\n";
  }
  return folder_.write("prometheus.yaml", text.str());
}

std::vector<double> MeasuredPrometheus::own(const std::string& metric) const {
  std::istringstream lines(support::http_get("http://" + address_ + "/metrics").body);
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(metric + "{") || line.starts_with(metric + " "))
      values.push_back(std::stod(line.substr(line.rfind(' '))));
  }
  return values;
}

double MeasuredPrometheus::query(const std::string& expression) const {
  const std::string url = "http://" + address_ + "/api/v1/query?query=";
  const std::string answer = support::http_get(url + url_encoded_brackets(expression)).body;
  static const std::regex kValue(R"re("value":\[[^,]*,"([0-9.e+]+)"\])re");
  std::smatch found;
  return std::regex_search(answer, found, kValue) ? std::stod(found[1].str()) : 0;
}

}  // namespace gpuward::bench
