// A small fleet that a real Prometheus watches while nodes break, for the test of the queries and
// for the pictures: one node with the eight GPUs of the fake NVML, which report every value of a
// driver; one whose simulated GPU falls off the bus; and as many healthy nodes as wanted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "tests/e2e/stack.h"
#include "tests/e2e/watch.h"
#include "tests/support/temp_dir.h"

namespace gpuward::dashboards {

class WatchedFleet {
 public:
  [[nodiscard]] Status start(const std::vector<std::string>& healthy_nodes);
  // Returns once the node of the lost GPU is tainted and cordoned.
  [[nodiscard]] Status break_things();
  [[nodiscard]] Status log_line(const std::string& node, const std::string& line);
  [[nodiscard]] e2e::Watch watch() const { return {*stack_, *cluster_}; }
  [[nodiscard]] std::string prometheus_url() const { return stack_->prometheus_url(); }
  [[nodiscard]] std::string logs() const { return stack_ ? stack_->logs() : ""; }

 private:
  [[nodiscard]] e2e::StackNode node_with_nvml() const;
  support::TempDir folder_;
  std::map<std::string, e2e::KernelLog> logs_;
  std::unique_ptr<e2e::Cluster> cluster_;
  std::unique_ptr<e2e::Stack> stack_;
};

}  // namespace gpuward::dashboards
