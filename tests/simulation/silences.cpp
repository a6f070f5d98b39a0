#include "tests/simulation/silences.h"

namespace gpuward::remediator::simulation {

Result<std::map<std::string, Severity>> Silences::active_on(const std::string& node) {
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "Alertmanager does not answer");
  std::map<std::string, Severity> active;
  for (const Machine& machine : fleet_.machines()) {
    if (machine.name != node) continue;
    for (const FiringAlert& alert : machine.firing()) {
      const bool is_silenced =
          stage_.silenced.contains(alert.fingerprint) && !stage_.is_off(Sabotage::kSilence);
      if (!is_silenced) active.emplace(alert.fingerprint, alert.severity);
    }
  }
  return active;
}

Result<std::set<std::string>> Silences::all_firing(std::chrono::milliseconds /*limit*/) {
  if (!stage_.is_quiet && stage_.late_chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "Alertmanager does not answer");
  std::set<std::string> firing;
  for (const Machine& machine : fleet_.machines()) {
    for (const FiringAlert& alert : machine.firing()) firing.insert(alert.fingerprint);
  }
  return firing;
}

}  // namespace gpuward::remediator::simulation
