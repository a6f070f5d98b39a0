#include "exporter/announcements/gce_cloud.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "exporter/announcements/answers.h"

namespace gpuward::exporter {
namespace {

using Time = std::chrono::system_clock::time_point;
using Read = Result<ReadAnnouncements>;

constexpr auto kGce = "gce";
constexpr std::string_view kInstance = "/computeMetadata/v1/instance/";

Result<MetadataAnswer> ask_gce(http::Client& http, const std::string& endpoint,
                               std::string_view path) {
  return get_metadata(http, endpoint + std::string(kInstance) + std::string(path),
                      "Metadata-Flavor", "Google");
}

// nullopt if the server has no such value.
Result<std::optional<std::string>> value_of(http::Client& http, const std::string& endpoint,
                                            std::string_view path) {
  auto answer = ask_gce(http, endpoint, path);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 404) return std::nullopt;
  if (answer->status != 200) return refused(path, answer->status);
  return std::move(answer->body);
}

// The time that the machine has after a value has changed ("changes 60 seconds before a maintenance
// event starts"; a preempted one has 30 s to end its work). The server does not report when the
// value changed.
constexpr std::chrono::seconds kNotice{60}, kPreemptionNotice{30};

Time start_of(std::string_view id, AnnouncementKind kind, std::chrono::seconds notice,
              std::span<const Announcement> known, Time now) {
  const auto before = std::ranges::find(known, id, &Announcement::id);
  return before != known.end() && before->kind == kind ? before->start : now + notice;
}

// NONE, MIGRATE_ON_HOST_MAINTENANCE or TERMINATE_ON_HOST_MAINTENANCE: Compute Engine, "Query the
// metadata server for maintenance event notices"
// (cloud.google.com/compute/docs/metadata/getting-live-migration-notice). A machine that is
// terminated for maintenance is restarted on another host.
Read read_event(http::Client& http, const std::string& endpoint,
                std::span<const Announcement> known, Time now) {
  const auto word = value_of(http, endpoint, "maintenance-event");
  if (!word) return std::unexpected(word.error());
  if (!*word || **word == "NONE") return ReadAnnouncements();
  const bool is_migration = **word == "MIGRATE_ON_HOST_MAINTENANCE";
  if (!is_migration && **word != "TERMINATE_ON_HOST_MAINTENANCE") {
    return fail(ErrorKind::kInvalid, "maintenance-event has a value that is not known");
  }
  const auto kind = is_migration ? AnnouncementKind::kFreeze : AnnouncementKind::kRedeploy;
  return ReadAnnouncements{
      .list = {{.id = "maintenance-event",
                .kind = kind,
                .announced_by = kGce,
                .what = **word,
                .start = start_of("maintenance-event", kind, kNotice, known, now)}},
      .doubts = {}};
}

// TRUE or FALSE: Compute Engine, "Create and use Spot VMs", "Detect preemption of Spot VMs"
// (cloud.google.com/compute/docs/instances/create-use-spot). A preempted machine is stopped or
// deleted, and Compute Engine does not restart it.
Read read_preempted(http::Client& http, const std::string& endpoint,
                    std::span<const Announcement> known, Time now) {
  const auto word = value_of(http, endpoint, "preempted");
  if (!word) return std::unexpected(word.error());
  if (!*word || **word == "FALSE") return ReadAnnouncements();
  if (**word != "TRUE") return fail(ErrorKind::kInvalid, "preempted has a value that is not known");
  return ReadAnnouncements{.list = {{.id = "preempted",
                                     .kind = AnnouncementKind::kTerminate,
                                     .announced_by = kGce,
                                     .what = "preemption of a Spot VM",
                                     .start = start_of("preempted", AnnouncementKind::kTerminate,
                                                       kPreemptionNotice, known, now)}},
                           .doubts = {}};
}

// {"can_reschedule": "true", "latest_window_start_time": "2024-12-01T19:00:01Z",
//  "maintenance_status": "PENDING", "type": "SCHEDULED",
//  "window_end_time": "2024-12-01T21:00:01Z", "window_start_time": "2024-12-01T19:00:01Z"}
// or {} if there is none: Compute Engine, "Monitor and plan for a host maintenance event"
// (cloud.google.com/compute/docs/instances/monitor-plan-host-maintenance-event). Real servers also
// return "NONE", {"error": "no notifications have been received yet, try again later"} with HTTP
// 503, and 404 for machines without such notices.
Read parse_upcoming(const std::string& text) {
  const auto json = parse_json(text);
  if (!json) return fail(ErrorKind::kInvalid, "upcoming-maintenance is unreadable");
  if (*json == "NONE" || (json->is_object() && (json->empty() || json->contains("error"))))
    return ReadAnnouncements();
  const auto start = parse_rfc3339(string_at(*json, "window_start_time"));
  if (!start)
    return fail(ErrorKind::kInvalid, "upcoming-maintenance has no valid window_start_time");
  return ReadAnnouncements{
      .list = {{.id = "upcoming-maintenance",
                .kind = AnnouncementKind::kRedeploy,
                .announced_by = kGce,
                .what = "host maintenance, " + string_at(*json, "type", "UNKNOWN") + ", " +
                        string_at(*json, "maintenance_status", "UNKNOWN"),
                .start = *start,
                .end = parse_rfc3339(string_at(*json, "window_end_time"))}},
      .doubts = {}};
}

Read read_upcoming(http::Client& http, const std::string& endpoint,
                   std::span<const Announcement> /*known*/, Time /*now*/) {
  const auto answer = ask_gce(http, endpoint, "upcoming-maintenance?alt=json");
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 404) return ReadAnnouncements();
  const bool is_none_yet = answer->status == 503 && answer->body.contains("no notifications");
  if (is_none_yet) return ReadAnnouncements();
  if (answer->status != 200) return refused("upcoming-maintenance", answer->status);
  return parse_upcoming(answer->body);
}

Read read_gce(http::Client& http, const std::string& endpoint, std::span<const Announcement> known,
              Time now) {
  ReadAnnouncements all;
  for (const auto read : {read_event, read_upcoming, read_preempted}) {
    auto some = read(http, endpoint, known, now);
    if (!some) return some;
    std::ranges::move(some->list, std::back_inserter(all.list));
  }
  return all;
}

}  // namespace

// (Compute Engine, "Detect if a VM is running in Compute Engine".)
Cloud gce_cloud() {
  return {.name = kGce,
          .signs = {{"product_name", "Google Compute Engine"}},
          .endpoint = "http://169.254.169.254",
          .read = read_gce};
}

}  // namespace gpuward::exporter
