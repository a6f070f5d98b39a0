// Keeps the state file up to date on its own thread, so that a slow or dead disk delays neither the
// kernel log nor a scrape. Counts and position are saved together: after a crash the lost part is
// read again from the kernel log, and nothing is counted twice.
#pragma once

#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/store/state_file.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class StateSaver {
 public:
  // All references must outlive it.
  StateSaver(Store& store, StateFile file, Clock& clock, Log& log);
  // Saves once more, then ends the thread.
  ~StateSaver();
  StateSaver(const StateSaver&) = delete;
  StateSaver& operator=(const StateSaver&) = delete;

 private:
  void run(const std::stop_token& stop);
  void save();
  [[nodiscard]] Status write_if_changed();

  Store& store_;
  StateFile file_;
  Clock& clock_;
  Log& log_;
  std::string saved_;  // the content of the file, as far as known
  std::jthread thread_;
};

}  // namespace gpuward::exporter
