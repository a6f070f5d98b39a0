// dashboards_pictures FOLDER: runs a small fleet for some minutes, breaks GPUs on four of its
// nodes, and draws every dashboard with draw.py. It is not a test; it makes docs/images.
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "tests/dashboards/watched_fleet.h"
#include "tests/e2e/scenario.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace gpuward::dashboards {
namespace {

using std::chrono::minutes;

constexpr int kMinutes = 7;
constexpr const char* kEccError =
    "NVRM: Xid (PCI:0000:1a:00): 48, pid='<unknown>', name=<unknown>, DBE (double bit error) ECC "
    "Error";

// Waits until Prometheus has this many minutes of the fleet.
bool watched_for(const WatchedFleet& fleet, int wanted) {
  return support::poll_until(
      [&] {
        const auto age = fleet.watch().query("time() - min(process_start_time_seconds)");
        return age && *age >= wanted * 60;
      },
      minutes(wanted + 1));
}

Status draw(const std::string& folder) {
  WatchedFleet fleet;
  auto status = fleet.start({"gpu-node-3", "gpu-node-4", "gpu-node-5", "gpu-node-6"});
  if (!status) return status;
  const auto wait = [&](int wanted) -> Status {
    if (watched_for(fleet, wanted)) return {};
    return fail(ErrorKind::kTimeout, "Prometheus does not answer: " + fleet.logs());
  };
  const auto after = [&](int age, const std::string& node, const std::string& line) {
    if (status) status = wait(age);
    if (status) status = fleet.log_line(node, line);
  };
  after(1, "gpu-node-3", e2e::kApplicationFault);
  if (status) status = wait(3);
  if (status) status = fleet.break_things();  // first: the budget allows one cordon
  after(4, "gpu-node-1", kEccError);
  after(5, "gpu-node-4", e2e::kRowRemapperFailed);
  if (status) status = wait(kMinutes);
  if (!status) return status;
  const std::vector<std::string> argv = {"python3",
                                         GPUWARD_SOURCE_DIR "/tests/dashboards/draw.py",
                                         fleet.prometheus_url(),
                                         folder,
                                         std::to_string(kMinutes),
                                         "gpu-node-1"};
  const auto drawn = support::Process::run({.argv = argv}, minutes(5));
  if (!drawn) return std::unexpected(drawn.error());
  if (drawn->exit_code != 0) return fail(ErrorKind::kInvalid, drawn->error_output);
  return {};
}

}  // namespace
}  // namespace gpuward::dashboards

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: dashboards_pictures FOLDER\n";
    return 2;
  }
  const auto drawn = gpuward::dashboards::draw(argv[1]);
  if (drawn) return 0;
  std::cerr << drawn.error().message << '\n';
  return 1;
}
