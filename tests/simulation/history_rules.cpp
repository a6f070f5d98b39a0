#include "tests/simulation/history_rules.h"

#include <algorithm>
#include <chrono>

#include "remediator/model/history_alerts.h"

namespace gpuward::remediator::simulation {
namespace {

// The shortest soak of a verification in any plan of the setting.
constexpr std::chrono::minutes kSoak{1};
// The oldest that a report can be when the replica writes by it.
constexpr std::chrono::seconds kLate{30};
// A longer time between two looks ends every soak.
constexpr std::chrono::minutes kSeen{4};

}  // namespace

HistoryRules::HistoryRules(Stage& stage, const Fleet& fleet) : stage_(stage), fleet_(fleet) {
  stage.on_rewritten.emplace_back(
      [this](const Remediation& before, const Remediation& after) { on_rewritten(before, after); });
}

void HistoryRules::on_rewritten(const Remediation& before, const Remediation& after) const {
  const Machine* const machine = fleet_.find(after.node);
  if (machine == nullptr || after.wish.machine_replaced) return;
  const bool is_its =
      machine->instance() == after.instance_id || machine->provider_id() == after.instance_id;
  if (!is_its) return;
  for (const AlertEvidence& alert : after.alerts) {
    if (!is_of_history(alert) || alert.firing()) continue;
    const bool has_fired = std::ranges::any_of(before.alerts, [&](const AlertEvidence& one) {
      return one.fingerprint == alert.fingerprint && one.firing();
    });
    if (has_fired) check_soaked(after, *machine);
  }
}

void HistoryRules::check_soaked(const Remediation& after, const Machine& machine) const {
  const auto now = stage_.clock.steady();
  require(!machine.sick_since || now - *machine.sick_since < kSeen, "history-soak",
          "the history of " + after.name + "'s machine has ended, and it is broken");
  if (!machine.cured || machine.cured->lasted < kSeen) return;
  const auto ago = now - machine.cured->at;
  require(ago >= kSoak || ago <= kLate, "history-soak",
          "the history of " + after.name + "'s machine has ended " +
              std::to_string(std::chrono::floor<std::chrono::milliseconds>(ago).count()) +
              " ms after its fault");
}

}  // namespace gpuward::remediator::simulation
