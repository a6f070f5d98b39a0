// The GPUs that the exporters report: their own, and in some simulations those of other machines.
// Keeps since when each node has reported each GPU, as Prometheus does.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "remediator/inbox/sources/gpu_claims.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Serials {
 public:
  Serials(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  // The GPUs in the report of that machine.
  [[nodiscard]] WeighedGpus reported_by(const Machine& machine);

 private:
  void scrape();
  void note(const std::string& node, const std::string& serial);
  [[nodiscard]] GpuClaims claims_of(const std::string& node, const std::string& serial) const;
  [[nodiscard]] std::vector<std::string> named_by(const Machine& machine) const;

  struct Span {
    WallTime since, until;
  };
  Stage& stage_;
  Fleet& fleet_;
  std::map<std::string, std::map<std::string, Span>> spans_;  // by serial and node
};

}  // namespace gpuward::remediator::simulation
