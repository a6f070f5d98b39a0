// A real Prometheus with the shipped rules, in the version that `./dev` pins, whose targets are
// thousands of nodes behind one port; and its own metrics. Used by rules_bench.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::bench {

inline constexpr int kShippedInterval = 5;  // alerts/prometheus.yaml, in seconds

struct ScrapedFleet {
  std::size_t nodes;
  int interval_seconds;
  int port;  // of the server of the pages
  std::string well_path, bad_path;
  std::size_t one_is_bad_of;  // nodes
};

struct Evaluation {
  double seconds = 0;  // of all groups of rules together
  double busiest = 0;  // the longest group, as a share of its interval
};

class MeasuredPrometheus {
 public:
  // Exits the program if Prometheus cannot be started. Rules have the shipped interval.
  explicit MeasuredPrometheus(ScrapedFleet fleet);

  // Returns once every node was scraped; false if that takes more than four minutes.
  [[nodiscard]] bool is_full() const;
  // The share of the last minute's scrapes that were finished.
  [[nodiscard]] double scrapes_in_time() const;
  [[nodiscard]] Evaluation newest_evaluation() const;
  [[nodiscard]] double series() const;
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

 private:
  [[nodiscard]] std::string write_config() const;
  // The newest values of its own metric, one for each group of rules if it has such values.
  [[nodiscard]] std::vector<double> own(const std::string& metric) const;
  // The single value of that expression; zero if it has none.
  [[nodiscard]] double query(const std::string& expression) const;

  ScrapedFleet fleet_;
  support::TempDir folder_;
  std::string address_;
  std::unique_ptr<support::Process> process_;
};

}  // namespace gpuward::bench
