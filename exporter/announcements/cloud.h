// A cloud whose metadata service tells a machine what is planned for it: the seam between the
// watcher, which asks, and the one file of each cloud. A new cloud is one file and one line in
// announcements/all.cpp. Nothing is asked of a machine that the firmware gives to none of them.
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

// What one reading has found of this very machine.
struct ReadAnnouncements {
  std::vector<Announcement> list;   // first_seen and workload are not filled in
  std::vector<std::string> doubts;  // what was left out because it could not be understood
};

// Of the documented `sys_vendor`, `product_name`, ... in /sys/class/dmi/id.
struct FirmwareSign {
  std::string_view attribute;
  std::string_view text;
  bool is_end = false;  // the attribute ends with the text; else it is the text
};

struct Cloud {
  std::string_view name;  // "aws": the label `announced_by`
  std::vector<FirmwareSign> signs;
  std::string endpoint;  // where its metadata service is
  // Up to a few requests of a second each. `known`: what was read before, for what an answer leaves
  // out. An error says that the cloud could not be asked or its answer not be read: what was known
  // stays.
  Result<ReadAnnouncements> (*read)(http::Client& http, const std::string& endpoint,
                                    std::span<const Announcement> known,
                                    std::chrono::system_clock::time_point now);
};

// announcements/all.cpp: the table.
[[nodiscard]] std::vector<Cloud> all_clouds();
// The one that the firmware names; nullopt: none, and nobody is to be asked.
[[nodiscard]] std::optional<Cloud> cloud_of(const HostPaths& host);
[[nodiscard]] std::optional<Cloud> cloud_named(std::string_view name);

}  // namespace gpuward::exporter
