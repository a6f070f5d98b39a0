#include "exporter/config/exit_code.h"

#include <iostream>

#include "core/runtime/text.h"

namespace gpuward::exporter {

ExitCode complain(const Error& error) {
  std::cerr << "gpuward-exporter: " << escaped_lines(error.message) << "\n";
  const bool is_usage = error.kind == ErrorKind::kInvalid || error.kind == ErrorKind::kNotFound;
  return is_usage ? kWrongUsage : kFailed;
}

}  // namespace gpuward::exporter
