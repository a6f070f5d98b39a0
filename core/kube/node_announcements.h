// What a cloud has announced of a machine, as its exporter writes it on the Node and the remediator
// reads it there. Only the machine's own: what the cloud says of others is not written. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/announcement.h"

namespace gpuward {

// JSON: [{"id": "instance-event-1", "kind": "reboot", "by": "aws", "start": "...", ...}], by start.
inline constexpr std::string_view kAnnouncementsAnnotation = "gpuward.dev/announcements";
inline constexpr std::size_t kMostNodeAnnouncements = 16;

struct NodeAnnouncement {
  Announcement announced;
  // The cloud has not answered for a while: nobody knows whether that is still true.
  bool is_stale = false;
  std::string boot_id = {};  // in which the machine has read it: another one may have the Node now

  friend bool operator==(const NodeAnnouncement&, const NodeAnnouncement&) = default;
};

// Texts are cut at 500 bytes and ids at 128: at most some 20 KiB.
[[nodiscard]] std::string node_announcements_text(const std::vector<NodeAnnouncement>& list);
// What cannot be read is left out, and so is what comes after the first sixteen.
[[nodiscard]] std::vector<NodeAnnouncement> node_announcements_of(const kube::Node& node);

// For people: "reboot from 2026-11-26T09:00:00Z (aws: system-reboot: scheduled reboot)".
[[nodiscard]] std::string summary_of(const Announcement& announced);

}  // namespace gpuward
