// Runs the collectors, one after the other, each within its time and all within theirs: what hangs
// or is not there costs the evidence its own file and nothing else. Used by the command
// collect-evidence.
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
  std::map<std::string, std::string> environment;  // of the programs, on top of ours
  std::chrono::milliseconds timeout;               // of all of them together
  Clock& clock;
  std::stop_token stop;  // ends the one that runs, and begins no other
};

struct Collected {
  std::vector<EvidenceFile> files;
  std::vector<std::string> incomplete;  // files of programs that were there and did not do it
  std::string summary;                  // a line a collector
};

[[nodiscard]] Collected collect(std::span<const Collector> collectors, const CollectParts& parts);

}  // namespace gpuward::exporter
