// Evidence that is no fault of the node: what its cloud has announced. Told apart by where it comes
// from, because anybody may name an alert as these are named. Pure; used by the policy, the source
// of announcements and the decision.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/announcement.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// What the fingerprints of such evidence begin with.
inline constexpr std::string_view kAnnouncementOrigin = "announcement.";
// The same while it is moved.
[[nodiscard]] std::string announcement_fingerprint(const Announcement& announced);

// "GpuwardAnnouncedReboot".
[[nodiscard]] std::string alertname_of(AnnouncementKind kind);
// What was announced; nullopt for evidence of any other kind.
[[nodiscard]] std::optional<AnnouncementKind> announced_kind(const AlertEvidence& alert);

}  // namespace gpuward::remediator
