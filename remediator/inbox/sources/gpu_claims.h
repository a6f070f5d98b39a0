// Decides which node's reports about a GPU count. The ledger counts attempts by GPU, even if a GPU
// moves to another machine, so an exporter that reports foreign serial numbers could use up the
// attempts of other machines. A serial number counts for a machine only if no other node reports
// it, and none has since this machine began to report it. A moved board has left its old machine
// before that. Pure; used by the source of reports.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::remediator {

// The claims on the serial number, or UUID, of one GPU.
struct GpuClaims {
  std::optional<std::chrono::system_clock::time_point> own_since;     // this node reports it
  std::optional<std::chrono::system_clock::time_point> others_until;  // another one reported it
};

struct WeighedGpus {
  std::vector<std::string> speaking, contested;
};

// `claims` by GPU; a GPU that only this node has claimed may be missing.
[[nodiscard]] WeighedGpus weigh_gpus(std::vector<std::string> gpus,
                                     const std::map<std::string, GpuClaims>& claims);

}  // namespace gpuward::remediator
