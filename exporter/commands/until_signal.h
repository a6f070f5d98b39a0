// Work that a command does until it is done or the process has to stop. Used by check, sweep
// and quarantine.
#pragma once

#include <functional>
#include <stop_token>

namespace gpuward::exporter {

// Runs it on a thread of its own while this one waits for signals; returns its exit code. To be
// called once in a process, by main()'s thread.
[[nodiscard]] int until_signal(const std::function<int(const std::stop_token&)>& work);

}  // namespace gpuward::exporter
