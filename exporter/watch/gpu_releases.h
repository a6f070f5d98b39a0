// Releases the GPUs while another program needs them for itself, such as the reset of a GPU, which
// allows no client of the driver. Reads the requests (store/release_requests.h), reports the
// release in the store, and answers each request once this exporter holds no GPU. A request ends
// when its file is removed, its time is over, or the node has booted again, even if its owner is
// gone. A label of the Node (own_node.h) asks for the GPUs while it is set. Made and called by
// the composition root on the main thread.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/store/release_requests.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class GpuReleases {
 public:
  static constexpr std::chrono::minutes kLongest{30};  // the longest request
  // A label that lasts longer is logged as an error but still granted, because using the GPUs would
  // break the upgrade. k8s-driver-manager waits for each kind of pod for 5 minutes at most, and the
  // driver's container compiles the driver and has 20 minutes to start (startupProbe of
  // assets/state-driver in the GPU operator); the alert GpuReleasedTooLong waits five minutes more.
  static constexpr std::chrono::minutes kLongestLabel{60};
  // The answer to a granted request. Any other answer is the reason for a refusal.
  static constexpr std::string_view kReleased = "released";

  // All references must outlive it. Reads the requests from before the start.
  GpuReleases(const std::filesystem::path& state_folder, std::string boot_id, Store& store,
              Clock& clock, Log& log);

  // Call it once a second. Reads the requests, and takes the label of the Node that asks for the
  // GPUs. Returns whether the exporter must release them.
  bool tick(std::optional<std::string> asking_label = std::nullopt);
  // Call it after tick(), with whether this exporter holds no GPU now.
  void confirm(bool holds_none);

 private:
  void read_requests();
  void take(std::optional<std::string> asking_label);
  [[nodiscard]] bool is_wanted() const { return !granted_.empty() || label_; }
  // Returns why the request cannot be granted; empty: it can.
  [[nodiscard]] std::string objection_to(const ReleaseRequest& request, WallTime now) const;
  void end(const std::filesystem::path& path, const std::string& why, bool is_new);
  void publish();

  struct Granted {
    ReleaseRequest request;
    Clock::Steady ends;  // steps of the wall clock do not change it
    bool is_answered = false;
  };

  struct AskingLabel {
    std::string text;  // "key=value"
    Clock::Steady since;
    bool is_overdue_said = false;
  };

  ReleaseRequests requests_;
  std::string boot_id_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  std::map<std::filesystem::path, Granted> granted_;
  std::set<std::filesystem::path> ended_;  // by the last tick
  std::optional<AskingLabel> label_;
  bool is_released_ = false;
  std::string said_fault_;  // the last one logged
};

}  // namespace gpuward::exporter
