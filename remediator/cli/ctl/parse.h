// Parses the command line of gpuwardctl by its table of commands: the command to run, and its
// arguments. Used by main() and by the tests of help and completion.
#pragma once

#include <variant>

#include "remediator/cli/commands/command_flags.h"
#include "remediator/cli/ctl/commands.h"

namespace gpuward::remediator {

struct CtlLine {
  const CtlCommand* command = nullptr;
  CommandFlags flags;
};

// Returns the command to run. Returns the exit code if there is nothing to run (--help, completion:
// 0) or the command line is wrong (2, with an error on stderr).
[[nodiscard]] std::variant<CtlLine, int> parse_ctl_line(int argc, const char* const* argv);

}  // namespace gpuward::remediator
