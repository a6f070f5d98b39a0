#include "tests/simulation/reports.h"

#include <algorithm>
#include <utility>

namespace gpuward::remediator::simulation {

using std::chrono::minutes;
using std::chrono::seconds;

// gpu.settling_time, shortened as the steps are.
constexpr minutes kSettlingTime{3};

Result<HealthReport> Reports::latest(std::string_view node) {
  const Machine* const machine = fleet_.find(node);
  auto report = said_of(machine);
  if (!stage_.looks.empty()) {
    stage_.looks.back()->report = report ? std::optional(*report) : std::nullopt;
  }
  if (stage_.is_off(Sabotage::kQuietReasons)) {
    return fail(ErrorKind::kInternal, "no answer after " + std::to_string(++stage_.tick) + " ms");
  }
  return report && machine != nullptr ? bent(*report, *machine) : report;
}

Result<HealthReport> Reports::said_of(const Machine* machine) {
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault)) {
    return fail(ErrorKind::kTimeout, "Prometheus does not answer");
  }
  if (machine == nullptr || !machine->exists || machine->voice == Voice::kSilent ||
      machine->is_restarting || machine->life != Life::kRuns || machine->silence.is_down ||
      machine->silence.is_unread) {
    return fail(ErrorKind::kNotFound, "nothing is known of the node");
  }
  HealthReport report;
  report.measured_at = stage_.true_time() - stage_.chance.span(seconds(0), seconds(20));
  report.severity = machine->fault;
  report.confirmed_severity = machine->fault;
  report.drill_severity = machine->drill.severity;
  report.boot_id = machine->boot_id(machine->boots);
  report.sees_kernel_log = machine->voice != Voice::kBlind;
  if (machine->voice == Voice::kStale) {
    report.measured_at -= stage_.chance.span(minutes(1), minutes(10));
  }
  add_proof(report, *machine);
  if (report.severity >= Severity::kReset) {
    WeighedGpus gpus = serials_.reported_by(*machine);
    report.gpus = std::move(gpus.speaking);
    report.contested_gpus = std::move(gpus.contested);
  }
  settle(report, *machine);
  if (machine->voice == Voice::kOldBoot) report.boot_id = machine->boot_id(machine->boots - 1);
  if (machine->voice == Voice::kInvented) {
    report.severity = std::max(report.severity, machine->alerted());
  }
  return report;
}

// As with a missing GPU: so soon after a boot the exporter reports severity monitor.
void Reports::settle(HealthReport& report, const Machine& machine) const {
  const bool is_young =
      machine.booted_at && stage_.clock.steady() - *machine.booted_at < kSettlingTime;
  if (!is_young || machine.fault < Severity::kReset || machine.boots % 2 != 0) return;
  report.severity = Severity::kMonitor;
  report.confirmed_severity = Severity::kMonitor;
  report.is_settled = false;
}

void Reports::add_proof(HealthReport& report, const Machine& machine) {
  if (machine.proof == Proof::kDiagnosed) {
    report.diagnostics_severity = machine.fault;
    return;
  }
  const auto ago = machine.proof == Proof::kMeasured ? stage_.chance.span(seconds(0), seconds(30))
                                                     : stage_.chance.span(minutes(4), minutes(30));
  report.observed_at[machine.fault] = report.measured_at - ago;
}

HealthReport Reports::bent(HealthReport report, const Machine& machine) const {
  if (stage_.is_off(Sabotage::kFreshness)) report.measured_at = stage_.clock.wall();
  if (stage_.is_off(Sabotage::kBoot)) report.boot_id = machine.boot_id(machine.boots);
  if (stage_.is_off(Sabotage::kMeasured)) report.observed_at[machine.fault] = stage_.clock.wall();
  if (stage_.is_off(Sabotage::kWitness)) report.confirmed_severity = report.severity;
  if (stage_.is_off(Sabotage::kUnsettled)) report.is_settled = true;
  if (stage_.is_off(Sabotage::kSeverity)) {
    report.severity = Severity::kIsolate;
    report.confirmed_severity = Severity::kIsolate;
  }
  if (stage_.is_off(Sabotage::kDrillReport)) report = with_drill(std::move(report));
  if (stage_.is_off(Sabotage::kWell)) {
    report.severity = Severity::kNone;
    report.confirmed_severity = Severity::kNone;
  }
  return report;
}

}  // namespace gpuward::remediator::simulation
