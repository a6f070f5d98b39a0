#include "exporter/publish/families.h"

namespace gpuward::exporter {

std::vector<metrics::Family> exporter_families(const Snapshot& snapshot,
                                               const xid::Catalogue& catalogue) {
  std::vector<metrics::Family> families;
  append_event_families(snapshot, catalogue, families);
  append_finding_families(snapshot, families);
  append_self_families(snapshot, families);
  return families;
}

}  // namespace gpuward::exporter
