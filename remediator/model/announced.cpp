#include "remediator/model/announced.h"

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kAlert = "GpuwardAnnounced";

}  // namespace

std::string announcement_fingerprint(const Announcement& announced) {
  return std::string(kAnnouncementOrigin) +
         short_hash(std::string(to_string(announced.kind)) + " " + announced.id);
}

std::string alertname_of(AnnouncementKind kind) {
  std::string word(to_string(kind));
  word.front() = to_upper(word.substr(0, 1)).front();
  return std::string(kAlert) + word;
}

std::optional<AnnouncementKind> announced_kind(const AlertEvidence& alert) {
  if (!alert.fingerprint.starts_with(kAnnouncementOrigin)) return std::nullopt;
  for (std::size_t i = 0; i < kAnnouncementKinds.size(); ++i) {
    const auto kind = static_cast<AnnouncementKind>(i);
    if (alert.alertname == alertname_of(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
