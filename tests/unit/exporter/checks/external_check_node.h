// A node for the checks that run programs: its files, its programs, its GPUs. It is healthy and
// idle until a test changes it. Values are invented.
#pragma once

#include <optional>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/checks/check/check.h"
#include "tests/fakes/tools/tool_box.h"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/is_gone.h"

namespace gpuward::exporter {

class ExternalCheckNode {
 public:
  explicit ExternalCheckNode(unsigned gpus = 2);

  // Runs the check without the programs of the machine that the test runs on.
  [[nodiscard]] CheckOutcome run(Check& check);
  [[nodiscard]] GpuReading& reading(std::size_t index) { return report.vendors[0].gpus[index]; }
  void use_profile(const std::string& type);

  fakes::ToolBox tools;
  support::HostTree host;
  CheckSettings settings;
  GpuReport report;
  Snapshot snapshot;
  std::string type;
  std::optional<InstanceProfile> profile;
  SystemClock clock;
  std::stop_source stop;
  bool is_exclusive = false;

 private:
  support::Environment path_;
};

using support::is_gone;

}  // namespace gpuward::exporter
