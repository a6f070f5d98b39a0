// Whose word about a GPU counts. Attempts go with a GPU from machine to machine (safety/ledger), so
// an exporter that names foreign serial numbers could spend the attempts of other machines. A
// serial number speaks for a machine only where no other node reports it, and none has since this
// one began to: a board that was moved left its old machine before. Pure; used by the source of
// reports.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::remediator {

// Of the serial number, or UUID, of one GPU.
struct GpuClaims {
  std::optional<std::chrono::system_clock::time_point> own_since;     // this node reports it
  std::optional<std::chrono::system_clock::time_point> others_until;  // another one reported it
};

struct WeighedGpus {
  std::vector<std::string> speaking, contested;
};

// `claims` by GPU; one that nobody else has claimed need not be there.
[[nodiscard]] WeighedGpus weigh_gpus(std::vector<std::string> gpus,
                                     const std::map<std::string, GpuClaims>& claims);

}  // namespace gpuward::remediator
