#include "tests/simulation/serials.h"

#include <algorithm>

namespace gpuward::remediator::simulation {

WeighedGpus Serials::reported_by(const Machine& machine) {
  const std::vector<std::string> gpus = named_by(machine);
  if (!stage_.setting.has_forgers) return weigh_gpus(gpus, {});  // no exporter claims others' GPUs
  scrape();
  std::map<std::string, GpuClaims> claims;
  for (const std::string& gpu : gpus) claims[gpu] = claims_of(machine.name, gpu);
  if (stage_.is_off(Sabotage::kSerials)) claims.clear();
  return weigh_gpus(gpus, claims);
}

void Serials::scrape() {
  for (const Machine& machine : fleet_.machines()) {
    if (!machine.works() || machine.is_restarting) continue;
    for (const std::string& serial : named_by(machine)) note(machine.name, serial);
  }
}

void Serials::note(const std::string& node, const std::string& serial) {
  const WallTime now = stage_.true_time();
  spans_[serial].try_emplace(node, Span{.since = now, .until = now}).first->second.until = now;
}

GpuClaims Serials::claims_of(const std::string& node, const std::string& serial) const {
  GpuClaims claims;
  const auto known = spans_.find(serial);
  if (known == spans_.end()) return claims;
  for (const auto& [who, span] : known->second) {
    if (who == node) {
      claims.own_since = span.since;
    } else {
      claims.others_until = std::max(claims.others_until.value_or(span.until), span.until);
    }
  }
  return claims;
}

// A forger names one GPU of every machine.
std::vector<std::string> Serials::named_by(const Machine& machine) const {
  std::vector<std::string> named = {machine.serial()};
  if (!machine.forges_serials) return named;
  for (const Machine& victim : fleet_.machines()) {
    if (victim.name != machine.name) named.push_back(victim.serial());
  }
  return named;
}

}  // namespace gpuward::remediator::simulation
