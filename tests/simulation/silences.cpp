#include "tests/simulation/silences.h"

namespace gpuward::remediator::simulation {

Result<std::set<std::string>> Silences::fingerprints() {
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "Alertmanager does not answer");
  std::set<std::string> active;
  for (const Machine& machine : fleet_.machines()) {
    for (const auto& [severity, alert] : machine.alerts) {
      const std::string fingerprint = machine.fingerprint(severity);
      const bool is_silenced =
          stage_.silenced.contains(fingerprint) && !stage_.is_off(Sabotage::kSilence);
      if (alert.is_firing && !is_silenced) active.insert(fingerprint);
    }
  }
  return active;
}

Result<std::set<std::string>> Silences::all_firing() {
  if (!stage_.is_quiet && stage_.late_chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "Alertmanager does not answer");
  std::set<std::string> firing;
  for (const Machine& machine : fleet_.machines()) {
    for (const auto& [severity, alert] : machine.alerts) {
      if (alert.is_firing) firing.insert(machine.fingerprint(severity));
    }
  }
  return firing;
}

}  // namespace gpuward::remediator::simulation
