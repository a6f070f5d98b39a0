// Evidence of what the node's cloud has announced. An announcement is not a fault of the node. The
// prefix of the fingerprint identifies such evidence, because any alert rule may use the same alert
// names. Pure; used by the policy, the source of announcements and the decision.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/announcement.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Prefix of the fingerprints of announcements.
inline constexpr std::string_view kAnnouncementOrigin = "announcement.";
// Returns the fingerprint of the announcement. It stays the same while the cloud reschedules the
// event.
[[nodiscard]] std::string announcement_fingerprint(const Announcement& announced);

// Returns the alert name, for example "GpuwardAnnouncedReboot".
[[nodiscard]] std::string alertname_of(AnnouncementKind kind);
// Returns the kind of the announcement; nullopt for evidence of any other kind.
[[nodiscard]] std::optional<AnnouncementKind> announced_kind(const AlertEvidence& alert);

}  // namespace gpuward::remediator
