// A cloud whose metadata service announces planned events to a machine: the seam between the
// watcher, which asks, and the one file of each cloud. A new cloud is one file and one line in
// announcements/all.cpp. If the firmware matches no cloud, gpuward sends no request.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/announcement.h"
#include "core/model/result.h"
#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

// The announcements for this machine in one reading.
struct ReadAnnouncements {
  std::vector<Announcement> list;   // without first_seen and workload
  std::vector<std::string> doubts;  // announcements that were omitted because they are unclear
};

// A documented `sys_vendor`, `product_name`, ... in /sys/class/dmi/id.
struct FirmwareSign {
  std::string_view attribute;
  std::string_view text;
  bool is_end = false;  // the attribute ends with the text; else it is the text
};

struct Cloud {
  std::string_view name;  // "aws": the label `announced_by`
  std::vector<FirmwareSign> signs;
  std::string endpoint;  // the address of its metadata service
  // Sends up to a few requests of a second each. `known`: the announcements read before, for data
  // that a response omits. After an error (no response, or an unreadable one) the known
  // announcements stay.
  Result<ReadAnnouncements> (*read)(http::Client& http, const std::string& endpoint,
                                    std::span<const Announcement> known,
                                    std::chrono::system_clock::time_point now);
};

// announcements/all.cpp: the table.
[[nodiscard]] std::vector<Cloud> all_clouds();
// Returns the cloud that the firmware names; nullopt: none, and gpuward sends no request.
[[nodiscard]] std::optional<Cloud> cloud_of(const HostPaths& host);
[[nodiscard]] std::optional<Cloud> cloud_named(std::string_view name);

}  // namespace gpuward::exporter
