// The drills of this node: takes what `gpuward-exporter inject` asks for, answers it, and ends each
// drill after its time. Kept in memory alone; what was asked for before the start is refused. Made
// and called by the composition root on the main thread.
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
  // At once; one more is refused.
  static constexpr std::size_t kMost = 8;

  // All references must outlive it. Throws away the requests that are there.
  Drills(const std::filesystem::path& state_folder, Store& store, const CurrentPolicy& policy,
         Clock& clock, Log& log);

  // Once a second.
  void tick();
  // Ends those whose finding the request would clear: what repairs a fault ends its drill.
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
