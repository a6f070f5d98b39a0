#include "tests/simulation/cloud.h"

namespace gpuward::remediator::simulation {

using std::chrono::minutes;
using std::chrono::seconds;

Status Cloud::reboot(const remediator::Machine& order) {
  Machine* const machine = fleet_.find(order.node);
  const bool is_on_its_way = machine != nullptr && machine->is_restarting && machine->back_at;
  invariants_.on_reboot_asked(order, is_on_its_way);
  stage_.trace.say("cloud: restart of " + order.node + " for " + order.remediation);
  if (machine == nullptr || !machine->works() || order.provider_id != machine->provider_id()) {
    return fail(ErrorKind::kNotFound, "no such instance");
  }
  const std::size_t mood = stage_.is_quiet ? 0 : stage_.chance.weighted({60, 10, 10, 10, 10});
  if (mood == 1) return fail(ErrorKind::kRefused, "the instance cannot be restarted");
  if (mood == 2) return fail(ErrorKind::kTimeout, "no answer");
  restart(*machine);
  if (mood == 3) return fail(ErrorKind::kTimeout, "no answer");
  if (mood == 4) machine->back_at.reset();
  return {};
}

void Cloud::restart(Machine& machine) {
  fleet_.begin_restart(machine,
                       stage_.clock.steady() + stage_.chance.span(seconds(20), minutes(4)));
}

Status Cloud::terminate(const remediator::Machine& order) {
  invariants_.on_end_asked(order);
  stage_.trace.say("cloud: end of " + order.provider_id + " for " + order.remediation);
  replace_perhaps(order.node);
  Machine* const machine = stage_.is_off(Sabotage::kInstance)
                               ? fleet_.find(order.node)
                               : fleet_.find_instance(order.provider_id);
  if (machine == nullptr || machine->life == Life::kGone) return {};
  const std::size_t mood = stage_.is_quiet ? 0 : stage_.chance.weighted({55, 10, 10, 5, 15, 5});
  if (mood == 1) return fail(ErrorKind::kRefused, "the instance is protected");
  if (mood == 2) return fail(ErrorKind::kTimeout, "no answer");
  if (mood == 3) return fail(ErrorKind::kUnavailable, "too many requests");
  end(order, *machine, mood == 5);
  if (mood == 4) return fail(ErrorKind::kTimeout, "no answer");
  return {};
}

// While the request is on its way.
void Cloud::replace_perhaps(const std::string& node) {
  if (stage_.is_quiet || !stage_.chance.happens(0.15)) return;
  if (Machine* const machine = fleet_.find(node)) fleet_.replace(*machine);
}

void Cloud::end(const remediator::Machine& order, Machine& machine, bool for_ever) {
  invariants_.ends().on_accepted(order, machine.provider_id());
  if (machine.life == Life::kEnding) return;
  const Clock::Steady gone_at = stage_.clock.steady() + stage_.chance.span(seconds(5), minutes(4));
  fleet_.begin_end(machine, for_ever ? std::nullopt : std::optional(gone_at));
}

Result<Fate> Cloud::fate(const remediator::Machine& order) {
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "no answer");
  if (stage_.is_off(Sabotage::kProof) || stage_.truth.is_gone(order.provider_id))
    return Fate::kGone;
  const Machine* const machine = fleet_.find_instance(order.provider_id);
  return machine != nullptr && machine->life == Life::kEnding ? Fate::kEnding : Fate::kRuns;
}

}  // namespace gpuward::remediator::simulation
