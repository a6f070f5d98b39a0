// The cloud's announcements for a machine: its exporter writes them on the Node, the remediator
// reads them there. Announcements for other machines are not written. Pure.
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
  // The cloud has not responded for a while: the announcement may be out of date.
  bool is_stale = false;
  std::string boot_id = {};  // when it was read; the Node may have another machine now

  friend bool operator==(const NodeAnnouncement&, const NodeAnnouncement&) = default;
};

// Texts are cut at 500 bytes and ids at 128: at most some 20 KiB.
[[nodiscard]] std::string node_announcements_text(const std::vector<NodeAnnouncement>& list);
// Omits entries that it cannot read, and all after the first sixteen.
[[nodiscard]] std::vector<NodeAnnouncement> node_announcements_of(const kube::Node& node);

// For operators: "reboot from 2026-11-26T09:00:00Z (aws: system-reboot: scheduled reboot)".
[[nodiscard]] std::string summary_of(const Announcement& announced);

}  // namespace gpuward
