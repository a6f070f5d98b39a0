// Runs a command's work until it is done or the process must stop. Used by check, sweep and
// quarantine.
#pragma once

#include <functional>
#include <stop_token>

namespace gpuward::exporter {

// Runs the work on its own thread while this one waits for signals. Returns the work's exit code.
// Call it once in a process, on main()'s thread.
[[nodiscard]] int until_signal(const std::function<int(const std::stop_token&)>& work);

}  // namespace gpuward::exporter
