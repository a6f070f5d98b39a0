#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

}  // namespace

void append_announcement_families(const Snapshot& snapshot, Families& families) {
  const Announced& announced = snapshot.announced;
  auto& start = declare(
      families,
      {"gpuward_announcement_start_timestamp_seconds",
       "Start of an event that the cloud has announced for this machine; present until the cloud "
       "reports its end. `kind`: `rebalance`, `freeze`, `reboot`, `redeploy`, `terminate`.",
       kGauge,
       {"kind", "id", "announced_by"},
       "when nothing is announced"});
  auto& end = declare(families, {"gpuward_announcement_end_timestamp_seconds",
                                 "End of the announced event.",
                                 kGauge,
                                 {"kind", "id", "announced_by"},
                                 "when the cloud does not say"});
  for (const Announcement& one : announced.list) {
    const metrics::Labels labels = {std::string(to_string(one.kind)), one.id, one.announced_by};
    start.add(labels, one.start);
    if (one.end) end.add(labels, *one.end);
  }
  auto& readable =
      declare(families, {"gpuward_announcements_readable",
                         "Whether the cloud's metadata service reports the events that are planned "
                         "for this machine. At 0 the last known events are kept.",
                         kGauge,
                         {"announced_by"},
                         "outside of a known cloud"});
  auto& read =
      declare(families,
              {"gpuward_announcements_read_timestamp_seconds",
               "When the metadata service was last queried successfully; at most a minute behind.",
               kGauge,
               {"announced_by"},
               "before the first success"});
  if (announced.cloud.empty()) return;
  readable.add({announced.cloud}, !announced.fault);
  if (announced.is_read) read.add({announced.cloud}, announced.last_read);
}

}  // namespace gpuward::exporter
