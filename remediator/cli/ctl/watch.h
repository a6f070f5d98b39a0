// `gpuwardctl status --watch`: runs a command repeatedly, and shows its output when something other
// than an age has changed. Used by main(), on a separate thread.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/ctl/parse.h"

namespace gpuward::remediator {

inline constexpr std::chrono::seconds kBetweenLooks{2};

// Returns false if the output is closed, which ends the watch.
using ShowText = std::function<bool(const std::string& text)>;

// Shows the command's output, and again after each change, until `stop`. Waits kBetweenLooks
// between two runs. An error of the first run ends it; a later one is shown, and the watch
// continues.
[[nodiscard]] Status watch_command(const CtlLine& line, Clock& clock, const std::stop_token& stop,
                                   const ShowText& show);

}  // namespace gpuward::remediator
