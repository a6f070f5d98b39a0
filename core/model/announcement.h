// Announcements of a cloud about a machine: maintenance, an interruption, a recommendation. The
// exporter reads them from the metadata service of its own machine and publishes them on /metrics
// and on its Node; the remediator acts on them if the policy says so.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// Ordered from the mildest. kRebalance: an interruption has become more likely. kFreeze: a pause or
// a live migration. kReboot: the machine restarts on the same hardware. kRedeploy: it stops and
// starts on other hardware. kTerminate: it stops and does not come back.
enum class AnnouncementKind : std::uint8_t { kRebalance, kFreeze, kReboot, kRedeploy, kTerminate };

inline constexpr std::array<std::string_view, 5> kAnnouncementKinds = {
    "rebalance", "freeze", "reboot", "redeploy", "terminate"};
[[nodiscard]] constexpr std::string_view to_string(AnnouncementKind kind) {
  return kAnnouncementKinds[static_cast<std::size_t>(kind)];
}

struct Announcement {
  std::string id = {};  // the cloud's own; a moved event keeps its id
  AnnouncementKind kind = AnnouncementKind::kFreeze;
  std::string announced_by = {};  // "aws", "gce", "azure"
  std::string what = {};          // in the cloud's words: "system-reboot: scheduled reboot"
  std::chrono::system_clock::time_point start;                    // the earliest start
  std::optional<std::chrono::system_clock::time_point> end = {};  // the latest end
  std::chrono::system_clock::time_point first_seen = {};
  std::string workload = {};  // the GPUs' users at that time: `namespace/pod`, with commas

  friend bool operator==(const Announcement&, const Announcement&) = default;
};

}  // namespace gpuward
