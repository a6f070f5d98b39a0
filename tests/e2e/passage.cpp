#include "tests/e2e/passage.h"

#include <algorithm>

#include "tests/e2e/scenario.h"
#include "tests/e2e/watch.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using std::chrono::milliseconds;

class Follower {
 public:
  Follower(const OnStep& on_step, std::stop_token stop)
      : on_step_(on_step), stop_(std::move(stop)), start_(std::chrono::steady_clock::now()) {}

  // Returns when `seen` became true; kTimeout with `what` if it did not.
  template <typename Seen>
  [[nodiscard]] Result<milliseconds> wait(Step step, const char* what, const Seen& seen) const {
    const auto is_over = [&] { return stop_.stop_requested() || seen(); };
    const bool over = support::poll_until(is_over);
    if (stop_.stop_requested()) return fail(ErrorKind::kCancelled, "told to stop");
    if (!over) {
      return fail(ErrorKind::kTimeout, std::string("this did not happen: ") + what);
    }
    const auto since =
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start_);
    if (on_step_) on_step_(step, since);
    return since;
  }

 private:
  const OnStep& on_step_;
  std::stop_token stop_;
  std::chrono::steady_clock::time_point start_;
};

bool has_remediation(const Watch& watch, const std::string& node) {
  const auto all = watch.remediations_of(node);
  return std::ranges::any_of(all, [](const auto& one) { return one.severity == "reboot"; });
}

bool is_tainted_and_cordoned(const Watch& watch, const std::string& node) {
  const auto view = watch.node(node);
  return view && view->cordoned && view->taint == "reboot:NoSchedule";
}

}  // namespace

Result<Passage> follow_fault(const Stack& stack, const Cluster& cluster, const StackNode& node,
                             const OnStep& on_step) {
  const Watch watch(stack, cluster);
  const Follower follower(on_step, stack.stop_token());
  if (auto status = node.log->write(kFallenOffTheBus); !status) {
    return std::unexpected(status.error());
  }
  if (on_step) on_step(Step::kWritten, milliseconds{0});
  const auto metric = follower.wait(Step::kMetric, "the exporter's counter rises", [&] {
    return watch.exporter_serves(node.name, kFallenOffTheBusMetric);
  });
  if (!metric) return std::unexpected(metric.error());
  const auto alert = follower.wait(Step::kAlert, "Prometheus fires GpuNodeNeedsReboot", [&] {
    return watch.alert_state("GpuNodeNeedsReboot", node.name) == "firing";
  });
  if (!alert) return std::unexpected(alert.error());
  const auto remediation =
      follower.wait(Step::kRemediation, "a Remediation of severity reboot is opened",
                    [&] { return has_remediation(watch, node.name); });
  if (!remediation) return std::unexpected(remediation.error());
  const auto cordon = follower.wait(Step::kCordon, "the node is tainted and cordoned",
                                    [&] { return is_tainted_and_cordoned(watch, node.name); });
  if (!cordon) return std::unexpected(cordon.error());
  return Passage{*metric, *alert, *remediation, *cordon};
}

}  // namespace gpuward::e2e
