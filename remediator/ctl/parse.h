// The command line of gpuwardctl, as its table of commands says it: what to run, with which words.
// Used by main() and by the tests of help and completion.
#pragma once

#include <variant>

#include "remediator/commands/command_flags.h"
#include "remediator/ctl/commands.h"

namespace gpuward::remediator {

struct CtlLine {
  const CtlCommand* command = nullptr;
  CommandFlags flags;
};

// What to run, or the exit code where the command line asks for nothing more (--help, completion:
// 0) or is wrong (2, said on stderr).
[[nodiscard]] std::variant<CtlLine, int> parse_ctl_line(int argc, const char* const* argv);

}  // namespace gpuward::remediator
