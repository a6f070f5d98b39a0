// Observations in one line, for the tests of the store and of the pages rendered from it: a spec
// names only the values that matter to the test.
#pragma once

#include <string>

#include "exporter/store/latched_state.h"

namespace gpuward::exporter {

inline WallTime at_second(int second) {
  return WallTime(std::chrono::seconds(1'795'000'000 + second));
}

struct XidSpec {
  std::uint32_t code = 79;
  std::string pci = "0000:4e:00";
  Severity severity = Severity::kReboot;
  ClearedBy cleared_by = ClearedBy::kReboot;
  int second = 0;
  Evidence evidence = Evidence::kKernel;
  bool known = true;
};

inline Observation observe_xid(const XidSpec& spec) {
  Observation observation;
  observation.event.kind = xid::Kind::kXid;
  observation.event.code = spec.code;
  observation.event.pci = parse_pci_address(spec.pci);
  observation.verdict.severity = spec.severity;
  observation.verdict.cleared_by = spec.cleared_by;
  observation.verdict.known = spec.known;
  observation.verdict.why = "why";
  observation.line = "NVRM: Xid (PCI:" + spec.pci + "): " + std::to_string(spec.code);
  observation.seen = at_second(spec.second);
  observation.evidence = spec.evidence;
  return observation;
}

}  // namespace gpuward::exporter
