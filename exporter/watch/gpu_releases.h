// Lets go of the GPUs while another program wants them for itself, as the reset of a GPU does: no
// client of the driver may be left then. Reads the requests (store/release_requests.h), says in the
// store that the GPUs are released, and answers each request once this exporter holds none of them.
// A request ends when its file is removed, its time is over, or the node has booted again, whatever
// has become of its owner. Made and called by the composition root on the main thread.
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
  static constexpr std::chrono::minutes kLongest{30};  // that a request may ask for
  // The answer to a request that is granted; any other answer says why it is refused.
  static constexpr std::string_view kReleased = "released";

  // All references must outlive it. Reads the requests that an earlier process has left.
  GpuReleases(const std::filesystem::path& state_folder, std::string boot_id, Store& store,
              Clock& clock, Log& log);

  // Once a second: which requests there are. Whether the exporter must release the GPUs.
  bool tick();
  // After tick(): whether this exporter holds none of the GPUs now.
  void confirm(bool holds_none);

 private:
  // Why the request cannot be granted; empty: it can.
  [[nodiscard]] std::string objection_to(const ReleaseRequest& request, WallTime now) const;
  void end(const std::filesystem::path& path, const std::string& why, bool is_new);
  void publish();

  struct Granted {
    ReleaseRequest request;
    Clock::Steady ends;  // a step of the wall clock does not move it
    bool is_answered = false;
  };

  ReleaseRequests requests_;
  std::string boot_id_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  std::map<std::filesystem::path, Granted> granted_;
  std::set<std::filesystem::path> ended_;  // by the last tick
  bool is_released_ = false;
  std::string said_fault_;  // the last that was logged
};

}  // namespace gpuward::exporter
