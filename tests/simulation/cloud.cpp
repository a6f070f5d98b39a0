#include "tests/simulation/cloud.h"

#include "tests/simulation/wire.h"

namespace gpuward::remediator::simulation {

using std::chrono::minutes;
using std::chrono::seconds;

// Asks for the permit when the provider knows all that it needs for the call.
Status Cloud::ask_leave(const remediator::Machine& order, Step step, const Permit& permit) {
  faults_.before_call(order);
  const std::string forbidden = invariants_.calls().forbidden(order, step);
  if (!stage_.is_off(Sabotage::kLastPermit)) {
    if (auto may = permit(); !may) return may;
  }
  invariants_.calls().check_leave(order, step, forbidden);
  invariants_.calls().check_leads(order, step);
  invariants_.restore().check_call(order, step);
  return {};
}

Status Cloud::reboot(const remediator::Machine& order, const Permit& permit) {
  if (auto may = ask_leave(order, Step::kReboot, permit); !may) return may;
  const Machine* const machine = fleet_.find(order.node);
  invariants_.on_reboot_asked(order, machine != nullptr && machine->is_about_to_restart());
  check_down(stage_, machine, order);
  stage_.trace.say("cloud: restart of " + order.node + " for " + order.remediation);
  const CallFault fault = faults_.of_call();
  if (fault == CallFault::kDiesBefore) throw Crash{};
  auto taken = take_restart(order, fault);
  if (fault == CallFault::kDiesAfter) throw Crash{};
  return taken;
}

Status Cloud::take_restart(const remediator::Machine& order, CallFault fault) {
  Machine* const machine = fleet_.find(order.node);
  if (machine == nullptr || !machine->works() || order.provider_id != machine->provider_id()) {
    return fail(ErrorKind::kNotFound, "no such instance");
  }
  if (fault == CallFault::kRefused) return fail(ErrorKind::kRefused, "not while it is updated");
  if (fault == CallFault::kLate) {
    machine->restarts_at = stage_.clock.steady() + faults_.lateness();
    invariants_.calls().on_taken(order);
    return fail(ErrorKind::kTimeout, "no answer");
  }
  const std::size_t mood = stage_.is_quiet ? 0 : stage_.chance.weighted({60, 10, 10, 10, 10});
  if (mood == 1) return fail(ErrorKind::kRefused, "the instance cannot be restarted");
  if (mood == 2) return fail(ErrorKind::kTimeout, "no answer");
  restart(order, *machine);
  if (mood == 3) return fail(ErrorKind::kTimeout, "no answer");
  if (mood == 4) machine->back_at.reset();
  return {};
}

void Cloud::restart(const remediator::Machine& order, Machine& machine) {
  invariants_.calls().on_taken(order);
  fleet_.begin_restart(machine,
                       stage_.clock.steady() + stage_.chance.span(seconds(20), minutes(4)));
}

Status Cloud::terminate(const remediator::Machine& order, const Permit& permit) {
  if (auto may = ask_leave(order, Step::kTerminate, permit); !may) return may;
  invariants_.on_end_asked(order);
  check_down(stage_, fleet_.find_instance(order.provider_id), order);
  stage_.trace.say("cloud: end of " + order.provider_id + " for " + order.remediation);
  const CallFault fault = faults_.of_call();
  if (fault == CallFault::kDiesBefore) throw Crash{};
  auto taken = take_end(order, fault);
  if (fault == CallFault::kDiesAfter) throw Crash{};
  return taken;
}

Status Cloud::take_end(const remediator::Machine& order, CallFault fault) {
  replace_perhaps(order.node);
  Machine* const machine = stage_.is_off(Sabotage::kInstance)
                               ? fleet_.find(order.node)
                               : fleet_.find_instance(order.provider_id);
  if (machine == nullptr || machine->life == Life::kGone) {
    invariants_.calls().on_taken(order);
    return {};
  }
  if (fault == CallFault::kRefused) return fail(ErrorKind::kRefused, "not while it is updated");
  const std::size_t mood = stage_.is_quiet ? 0 : stage_.chance.weighted({55, 10, 10, 5, 15, 5});
  if (mood == 1) return fail(ErrorKind::kRefused, "the instance is protected");
  if (mood == 2) return fail(ErrorKind::kTimeout, "no answer");
  if (mood == 3) return fail(ErrorKind::kUnavailable, "too many requests");
  end(order, *machine, mood == 5);
  if (mood == 4 || fault == CallFault::kLate) return fail(ErrorKind::kTimeout, "no answer");
  return {};
}

// May replace the machine while the request is on its way.
void Cloud::replace_perhaps(const std::string& node) {
  if (stage_.is_quiet || !stage_.chance.happens(0.15)) return;
  if (Machine* const machine = fleet_.find(node)) fleet_.replace(*machine);
}

void Cloud::end(const remediator::Machine& order, Machine& machine, bool for_ever) {
  invariants_.ends().on_accepted(order, machine.provider_id());
  invariants_.calls().on_taken(order);
  faults_.begin_to_lag(order.provider_id);
  if (machine.life == Life::kEnding) return;
  const Clock::Steady gone_at = stage_.clock.steady() + stage_.chance.span(seconds(5), minutes(4));
  fleet_.begin_end(machine, for_ever ? std::nullopt : std::optional(gone_at));
}

Result<MachineFate> Cloud::fate(const remediator::Machine& order) {
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "no answer");
  if (stage_.is_off(Sabotage::kProof) || stage_.truth.is_gone(order.provider_id))
    return Fate::kGone;
  if (faults_.lags(order.provider_id)) return Fate::kRuns;
  const Machine* const machine = fleet_.find_instance(order.provider_id);
  return machine != nullptr && machine->life == Life::kEnding ? Fate::kEnding : Fate::kRuns;
}

}  // namespace gpuward::remediator::simulation
