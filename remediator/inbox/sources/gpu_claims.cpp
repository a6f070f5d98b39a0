#include "remediator/inbox/sources/gpu_claims.h"

#include <utility>

namespace gpuward::remediator {
namespace {

// If it is unknown since when this node reports the GPU, the other node may be right.
bool is_contested(const GpuClaims& claims) {
  if (!claims.others_until) return false;
  return !claims.own_since || *claims.others_until >= *claims.own_since;
}

}  // namespace

WeighedGpus weigh_gpus(std::vector<std::string> gpus,
                       const std::map<std::string, GpuClaims>& claims) {
  WeighedGpus weighed;
  for (std::string& gpu : gpus) {
    const auto known = claims.find(gpu);
    const bool speaks = known == claims.end() || !is_contested(known->second);
    (speaks ? weighed.speaking : weighed.contested).push_back(std::move(gpu));
  }
  return weighed;
}

}  // namespace gpuward::remediator
