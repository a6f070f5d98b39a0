// The drills of this node: takes the requests of `gpuward-exporter inject`, answers them, and ends
// each drill after its time. Drills are only in memory; requests from before the start are refused.
// Made and called by the composition root on the main thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/settings.h"
#include "exporter/store/request_folder.h"
#include "exporter/store/store.h"
#include "exporter/watch/drill_request.h"

namespace gpuward::exporter {

class Drills {
 public:
  // The most drills at the same time; one more is refused.
  static constexpr std::size_t kMost = 8;

  // All references must outlive it. Deletes the existing requests.
  Drills(const std::filesystem::path& state_folder, Store& store, const CurrentPolicy& policy,
         Clock& clock, Log& log);

  // Call it once a second.
  void tick();
  // Ends the drills whose findings the request would clear, because the repair of a fault ends its
  // drill.
  void clear(const ClearRequest& request);

 private:
  struct Running {
    Drill drill;
    Clock::Steady ends;
  };
  [[nodiscard]] Result<std::string> carry_out(const std::string& text);
  [[nodiscard]] Result<std::string> start(const DrillRequest& request);
  [[nodiscard]] Result<std::string> end(const std::string& gpu);
  void publish();

  std::filesystem::path folder_path_;
  RequestFolder folder_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  std::vector<Running> running_;
};

}  // namespace gpuward::exporter
