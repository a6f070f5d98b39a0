// Runs the collectors one after the other, each within its time limit and all within a common one:
// a program that hangs or is missing costs only its own file. Used by the command collect-evidence.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/evidence/archive.h"
#include "exporter/evidence/collectors.h"

namespace gpuward::exporter {

struct CollectParts {
  std::filesystem::path proc;                      // the node's
  std::map<std::string, std::string> environment;  // of the programs, on top of this process's
  std::chrono::milliseconds timeout;               // of all collectors together
  Clock& clock;
  std::stop_token stop;  // ends the running one, and starts no other
};

struct Collected {
  std::vector<EvidenceFile> files;
  std::vector<std::string> incomplete;  // files of programs that exist but failed
  std::string summary;                  // a line a collector
};

[[nodiscard]] Collected collect(std::span<const Collector> collectors, const CollectParts& parts);

}  // namespace gpuward::exporter
