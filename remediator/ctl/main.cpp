// gpuwardctl, also kubectl-gpuward: what people ask of gpuward and tell it, with their own rights.
#include <iostream>
#include <variant>

#include "core/runtime/clock.h"
#include "remediator/ctl/parse.h"

namespace {

using gpuward::ErrorKind;
using gpuward::remediator::CtlLine;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int complain(const gpuward::Error& error) {
  std::cerr << "gpuwardctl: " << error.message << "\n";
  return error.kind == ErrorKind::kInvalid || error.kind == ErrorKind::kNotFound ? kWrongUsage
                                                                                 : kFailed;
}

int run(const CtlLine& line) {
  gpuward::SystemClock clock;
  const auto output = line.command->run(line.flags, clock);
  if (!output) return complain(output.error());
  std::cout << output->text;
  return output->all_done ? 0 : kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const auto line = gpuward::remediator::parse_ctl_line(argc, argv);
  if (const int* exit_code = std::get_if<int>(&line)) return *exit_code;
  return run(std::get<CtlLine>(line));
}
