#include "remediator/act/actions/machine_kind.h"

#include <algorithm>
#include <sstream>

#include "remediator/model/fleet.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

const std::string kPoolFact = "pool";
const std::string kInstanceTypeFact = "instanceType";
// Values are separated by blanks, because resource names contain none.
const std::string kGpusFact = "gpus";
constexpr std::size_t kMaxGpuResources = 8;
const std::string kInstanceTypeLabel = "node.kubernetes.io/instance-type";

}  // namespace

MachineKind kind_of(const kube::Node& node, const PlaceKeys& keys) {
  MachineKind kind{.pool = place_of(node.meta.labels, keys).pool,
                   .instance_type = value_at(node.meta.labels, kInstanceTypeLabel),
                   .gpus = gpu_resources(node)};
  if (kind.gpus.size() > kMaxGpuResources) kind.gpus.resize(kMaxGpuResources);
  return kind;
}

Facts to_facts(const MachineKind& kind) {
  Facts facts;
  if (kind.pool) facts[kPoolFact] = *kind.pool;
  if (!kind.instance_type.empty()) facts[kInstanceTypeFact] = kind.instance_type;
  for (const std::string& gpu : kind.gpus) {
    std::string& text = facts[kGpusFact];
    text += (text.empty() ? "" : " ") + gpu;
  }
  return facts;
}

MachineKind kind_in(const Facts& facts) {
  MachineKind kind;
  if (facts.contains(kPoolFact)) kind.pool = facts.at(kPoolFact);
  kind.instance_type = value_at(facts, kInstanceTypeFact);
  std::istringstream words(value_at(facts, kGpusFact));
  for (std::string gpu; words >> gpu;) kind.gpus.push_back(gpu);
  return kind;
}

bool is_in_pool_of(const MachineKind& lost, const MachineKind& offered) {
  return !lost.pool || lost.pool == offered.pool;
}

std::optional<std::string> objection_to_kind(const MachineKind& lost, const MachineKind& offered) {
  const bool are_known = !lost.instance_type.empty() && !offered.instance_type.empty();
  if (are_known && lost.instance_type != offered.instance_type)
    return "it is of type " + offered.instance_type + ", not " + lost.instance_type;
  for (const std::string& gpu : lost.gpus) {
    if (std::ranges::find(offered.gpus, gpu) == offered.gpus.end()) return "it has no " + gpu;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
