// `gpuwardctl status --watch`: a command that is run again and again, and what it prints shown when
// something other than an age has changed. Used by main(), on a thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/ctl/parse.h"

namespace gpuward::remediator {

inline constexpr std::chrono::seconds kBetweenLooks{2};

// False: nobody sees it any more, it is over.
using ShowText = std::function<bool(const std::string& text)>;

// Shows what the command prints, and again where it has changed after kBetweenLooks, until `stop`.
// The error of the first time ends it; a later one is shown, and it goes on.
[[nodiscard]] Status watch_command(const CtlLine& line, Clock& clock, const std::stop_token& stop,
                                   const ShowText& show);

}  // namespace gpuward::remediator
