// What a cloud announces of a machine: maintenance, an interruption, a recommendation. Read by the
// exporter from the metadata service of its own machine, published by it on /metrics and on its
// Node, acted on by the remediator where the policy says so.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward {

// The mildest first. kRebalance: an interruption has become more likely. kFreeze: a pause or a live
// migration. kReboot: the machine restarts where it is. kRedeploy: it stops, and starts on other
// hardware. kTerminate: it stops for good.
enum class AnnouncementKind : std::uint8_t { kRebalance, kFreeze, kReboot, kRedeploy, kTerminate };

inline constexpr std::array<std::string_view, 5> kAnnouncementKinds = {
    "rebalance", "freeze", "reboot", "redeploy", "terminate"};
[[nodiscard]] constexpr std::string_view to_string(AnnouncementKind kind) {
  return kAnnouncementKinds[static_cast<std::size_t>(kind)];
}

struct Announcement {
  std::string id = {};  // as its cloud has it; the same while it is moved
  AnnouncementKind kind = AnnouncementKind::kFreeze;
  std::string announced_by = {};  // "aws", "gce", "azure"
  std::string what = {};          // in the cloud's words: "system-reboot: scheduled reboot"
  std::chrono::system_clock::time_point start;                    // not before
  std::optional<std::chrono::system_clock::time_point> end = {};  // by when it is over
  std::chrono::system_clock::time_point first_seen = {};
  std::string workload = {};  // who used the GPUs when it came: `namespace/pod`, with commas

  friend bool operator==(const Announcement&, const Announcement&) = default;
};

}  // namespace gpuward
