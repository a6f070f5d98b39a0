// A check on a made-up node: its host tree, its GPU readings, its clock. Used by the tests of the
// native checks.
#pragma once

#include <memory>

#include "exporter/checks/check/check.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/host_tree.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {

class CheckBench {
 public:
  explicit CheckBench(const CheckEntry& entry) : check_(entry.make()) {
    node.settings.tool_dirs = {host.paths().dev / "tools"};
    node.settings.gdrcopy_dir = host.paths().dev / "gdrcopy";
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      host.with_pci(Scenario::bus_id(gpu) + ".0", support::h100());
    }
  }

  [[nodiscard]] CheckOutcome run() {
    const Snapshot snapshot = node.make_snapshot();
    const HostPaths paths = host.paths();
    const std::string type = node.profile ? type_prefix + node.profile->type : unprofiled_type;
    return check_->run({.snapshot = snapshot,
                        .settings = node.settings,
                        .host = paths,
                        .instance_type = type,
                        .profile = node.profile,
                        .clock = clock,
                        .stop = {},
                        .is_exclusive = false});
  }

  Scenario node;
  support::HostTree host;
  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  std::string unprofiled_type = "x9.metal";
  std::string type_prefix;  // "ml." of HyperPod, which profiles do not have

 private:
  std::unique_ptr<Check> check_;
};

}  // namespace gpuward::exporter
