#include "exporter/checks/check/evidence.h"

#include "core/runtime/files.h"

namespace gpuward::exporter {

std::string keep_evidence(const CheckSettings& settings, std::string_view name,
                          std::string_view output) {
  if (settings.results_dir.empty()) return {};
  const Status kept = write_file_atomically(settings.results_dir / name, output);
  if (!kept) return " (its output could not be kept: " + kept.error().message + ")";
  return " (" + std::string(name) + ")";
}

}  // namespace gpuward::exporter
