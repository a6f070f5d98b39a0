// Prometheus as the remediator queries it: the report of a machine's exporter, in that exporter's
// voice. Notes the report in the look of the replica that asked.
#pragma once

#include "remediator/model/health_report.h"
#include "tests/simulation/fleet.h"
#include "tests/simulation/serials.h"

namespace gpuward::remediator::simulation {

class Reports final : public HealthReports {
 public:
  Reports(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}
  [[nodiscard]] Result<HealthReport> latest(std::string_view node) override;

 private:
  [[nodiscard]] Result<HealthReport> said_of(const Machine* machine);
  void add_proof(HealthReport& report, const Machine& machine);
  void settle(HealthReport& report, const Machine& machine) const;
  [[nodiscard]] HealthReport bent(HealthReport report, const Machine& machine) const;

  Stage& stage_;
  Fleet& fleet_;
  Serials serials_{stage_, fleet_};
};

}  // namespace gpuward::remediator::simulation
