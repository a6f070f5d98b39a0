// A real Prometheus that gets old samples, and evaluates expressions at each moment of that past.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/alerts/month/remote_write.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::alerts {

class Past {
 public:
  // A sample holds until the next one or a stale one, for two hours at most: constant values need
  // few samples.
  static constexpr seconds kSampleHolds = std::chrono::hours(2);

  // Throws if Prometheus does not start.
  Past();

  // In any order; throws if Prometheus refuses them.
  void write(const std::vector<Series>& series) const;

  // The moments with a result, by the labels of the result; from zero until just before `end`.
  struct Result {
    Labels labels;
    std::vector<Sample> samples;
  };
  [[nodiscard]] std::vector<Result> ask(const std::string& expr, seconds step, seconds end) const;

 private:
  support::TempDir folder_;
  std::string address_;
  std::unique_ptr<support::Process> process_;
};

}  // namespace gpuward::alerts
