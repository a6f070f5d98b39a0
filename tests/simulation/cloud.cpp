#include "tests/simulation/cloud.h"

namespace gpuward::remediator::simulation {

using std::chrono::minutes;
using std::chrono::seconds;

Status Cloud::reboot(const remediator::Machine& order) {
  Machine* const machine = fleet_.find(order.node);
  const bool is_on_its_way = machine != nullptr && machine->is_restarting && machine->back_at;
  invariants_.on_reboot_asked(order, is_on_its_way);
  stage_.trace.say("cloud: restart of " + order.node + " for " + order.remediation);
  if (machine == nullptr || !machine->exists ||
      !order.provider_id.ends_with("/" + machine->instance())) {
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

}  // namespace gpuward::remediator::simulation
