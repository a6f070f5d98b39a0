// Evidence of what the node's cloud has announced, which is not a fault of the node. The origin of
// the fingerprint identifies it, because any alert rule may use the same alert names. Pure; used by
// the policy, the source of announcements and the decision.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/announcement.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Prefix of the fingerprints of such evidence.
inline constexpr std::string_view kAnnouncementOrigin = "announcement.";
// Stays the same while the announced event is rescheduled.
[[nodiscard]] std::string announcement_fingerprint(const Announcement& announced);

// "GpuwardAnnouncedReboot".
[[nodiscard]] std::string alertname_of(AnnouncementKind kind);
// Returns what was announced; nullopt for evidence of any other kind.
[[nodiscard]] std::optional<AnnouncementKind> announced_kind(const AlertEvidence& alert);

}  // namespace gpuward::remediator
