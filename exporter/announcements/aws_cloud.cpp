#include "exporter/announcements/aws_cloud.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/aws/instance_metadata.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/announcements/answers.h"

namespace gpuward::exporter {
namespace {

using Time = std::chrono::system_clock::time_point;
using Read = Result<ReadAnnouncements>;

// Amazon EC2 User Guide, "Scheduled events for Amazon EC2 instances", types of scheduled events
// (docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html).
struct EventCode {
  std::string_view code;
  AnnouncementKind kind;
};
constexpr std::array<EventCode, 5> kCodes{{{"instance-reboot", AnnouncementKind::kReboot},
                                           {"system-reboot", AnnouncementKind::kReboot},
                                           {"system-maintenance", AnnouncementKind::kFreeze},
                                           {"instance-stop", AnnouncementKind::kRedeploy},
                                           {"instance-retirement", AnnouncementKind::kTerminate}}};

constexpr auto kAws = "aws";

std::unexpected<Error> unreadable(std::string_view what) {
  return fail(ErrorKind::kInvalid,
              "the EC2 metadata service's answer about " + std::string(what) + " is unreadable");
}

void read_event(const Json& event, ReadAnnouncements& out) {
  const std::string code = string_at(event, "Code"), id = string_at(event, "EventId");
  if (string_at(event, "State") != "active") return;  // completed or cancelled
  const auto known = std::ranges::find(kCodes, code, &EventCode::code);
  const auto start = parse_gmt(string_at(event, "NotBefore"));
  if (known == kCodes.end() || !start || id.empty()) {
    out.doubts.push_back("scheduled event " + id + " with code " + code + " and NotBefore " +
                         string_at(event, "NotBefore"));
    return;
  }
  out.list.push_back({.id = id,
                      .kind = known->kind,
                      .announced_by = kAws,
                      .what = code + ": " + string_at(event, "Description"),
                      .start = *start,
                      .end = parse_gmt(string_at(event, "NotAfter"))});
}

// [{"NotBefore" : "21 Jan 2019 09:00:43 GMT", "Code" : "system-reboot",
//   "Description" : "scheduled reboot", "EventId" : "instance-event-0d59937288b749b32",
//   "NotAfter" : "21 Jan 2019 09:17:23 GMT", "State" : "active"}]
// (User Guide, "View scheduled events using instance metadata".)
Read read_scheduled(const std::string& text) {
  const auto json = parse_json(text);
  if (!json || !json->is_array()) return unreadable("scheduled events");
  ReadAnnouncements out;
  for (const Json& event : *json) read_event(event, out);
  return out;
}

// {"action": "stop", "time": "2017-09-18T08:22:00Z"}; the same for terminate and hibernate.
// (User Guide, "Spot Instance interruption notices", instance-action.)
Read read_spot(const std::string& text) {
  const auto json = parse_json(text);
  if (!json) return unreadable("spot interruptions");
  const std::string action = string_at(*json, "action");
  const auto time = parse_rfc3339(string_at(*json, "time"));
  if (action.empty() || !time) return unreadable("spot interruptions");
  return ReadAnnouncements{.list = {{.id = "spot-interruption",
                                     .kind = AnnouncementKind::kTerminate,
                                     .announced_by = kAws,
                                     .what = "spot interruption: " + action,
                                     .start = *time}},
                           .doubts = {}};
}

// {"noticeTime": "2020-11-05T08:22:00Z"}. (User Guide, "EC2 instance rebalance recommendations".)
Read read_rebalance(const std::string& text) {
  const auto json = parse_json(text);
  const auto time = json ? parse_rfc3339(string_at(*json, "noticeTime")) : std::nullopt;
  if (!time) return unreadable("rebalance recommendations");
  return ReadAnnouncements{.list = {{.id = "rebalance-recommendation",
                                     .kind = AnnouncementKind::kRebalance,
                                     .announced_by = kAws,
                                     .what = "rebalance recommendation",
                                     .start = *time}},
                           .doubts = {}};
}

// HTTP 404 means that there is none, for all three ("If there are active maintenance events ...",
// "If the Spot Instance is not marked ..., you receive an HTTP 404 error").
struct Item {
  std::string_view path;
  Read (*read)(const std::string& text);
};
constexpr std::array<Item, 3> kItems{
    {{"/latest/meta-data/events/maintenance/scheduled", read_scheduled},
     {"/latest/meta-data/spot/instance-action", read_spot},
     {"/latest/meta-data/events/recommendations/rebalance", read_rebalance}}};

Result<std::string> session_of(const aws::InstanceMetadata& metadata) {
  auto session = metadata.open_session();
  const bool allows_v1 = !aws::read_aws_environment().says_true("AWS_EC2_METADATA_V1_DISABLED");
  if (!session && allows_v1 && aws::may_be_version_1(session.error().kind)) return std::string();
  return session;
}

Read read_aws(http::Client& http, const std::string& endpoint,
              std::span<const Announcement> /*known*/, Time /*now*/) {
  const aws::InstanceMetadata metadata(http, endpoint);
  const auto session = session_of(metadata);
  if (!session) return std::unexpected(session.error());
  ReadAnnouncements all;
  for (const Item& item : kItems) {
    const auto text = metadata.read(std::string(item.path), *session);
    if (!text && text.error().kind == ErrorKind::kNotFound) continue;
    auto read = text ? item.read(*text) : Read(std::unexpected(text.error()));
    if (!read) return read;
    std::ranges::move(read->list, std::back_inserter(all.list));
    std::ranges::move(read->doubts, std::back_inserter(all.doubts));
  }
  return all;
}

}  // namespace

// (User Guide, "Detect whether your instance is an EC2 instance": the sys_vendor of Nitro. The BIOS
// version of Xen is 4.11.amazon.)
Cloud aws_cloud() {
  return {.name = kAws,
          .signs = {{"sys_vendor", "Amazon EC2"}, {"bios_version", ".amazon", true}},
          .endpoint = aws::metadata_endpoint(aws::read_aws_environment()),
          .read = read_aws};
}

}  // namespace gpuward::exporter
