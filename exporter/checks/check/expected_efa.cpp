#include "exporter/checks/check/expected_efa.h"

#include "exporter/host/pci.h"

namespace gpuward::exporter {

ExpectedEfa expected_efa(const CheckContext& context) {
  ExpectedEfa expected;
  if (context.profile) expected.by_profile = context.profile->efa_devices;
  const KnownMachine& known = context.snapshot.state.machine;
  expected.had = known.efa_devices;
  expected.is_history_known = !known.machine.system_uuid.empty();
  if (expected.had > 0 || context.settings.is_seed_profile) return expected;
  const auto there = count_efa(context.host);
  expected.was_launched_without = there && *there == 0;
  return expected;
}

}  // namespace gpuward::exporter
