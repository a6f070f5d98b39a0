#include "remediator/inbox/sources/announcement_source.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "remediator/model/announced.h"

namespace gpuward::remediator {
namespace {

AlertSignal signal_of_announcement(const std::string& node, const Announcement& announced) {
  return {.node = node,
          .severity = kMaintenanceSeverity,
          .alertname = alertname_of(announced.kind),
          .fingerprint = announcement_fingerprint(announced),
          .firing = true,
          .starts_at = announced.first_seen,
          .ends_at = {},
          .foreign = true,
          .is_of_this_machine = true};
}

}  // namespace

Result<SourceFindings> AnnouncementSource::look() {
  const auto policy = policy_.get();
  SourceFindings findings;
  std::set<std::pair<std::string, std::string>> standing;  // node, fingerprint
  std::set<std::string> nodes;
  for (const AnnouncedNode& one : nodes_.announcements()) {
    nodes.insert(one.node);
    for (const NodeAnnouncement& item : one.list) {
      ++findings.read;
      standing.emplace(one.node, announcement_fingerprint(item.announced));
      if (policy->maintenance.contains(item.announced.kind))
        findings.signals.push_back(signal_of_announcement(one.node, item.announced));
    }
  }
  for (AlertSignal& signal : known_.firing_from(kAnnouncementOrigin)) {
    // The view has no announcements of an unknown Node.
    if (!nodes.contains(signal.node) || standing.contains({signal.node, signal.fingerprint}))
      continue;
    signal.firing = false;
    signal.ends_at = clock_.wall();
    findings.signals.push_back(std::move(signal));
  }
  return findings;
}

}  // namespace gpuward::remediator
