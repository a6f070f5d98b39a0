#include "exporter/announcements/azure_cloud.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/announcements/answers.h"

namespace gpuward::exporter {
namespace {

using Time = std::chrono::system_clock::time_point;
using Read = Result<ReadAnnouncements>;

constexpr auto kAzure = "azure";
constexpr auto kEventsPath = "/metadata/scheduledevents?api-version=2020-07-01";
constexpr auto kNamePath = "/metadata/instance/compute/name?api-version=2021-02-01&format=text";

// Azure, "Scheduled Events for Linux VMs", event properties
// (learn.microsoft.com/azure/virtual-machines/linux/scheduled-events).
struct EventType {
  std::string_view type;
  AnnouncementKind kind;
};
constexpr std::array<EventType, 5> kTypes{{{"Freeze", AnnouncementKind::kFreeze},
                                           {"Reboot", AnnouncementKind::kReboot},
                                           {"Redeploy", AnnouncementKind::kRedeploy},
                                           {"Preempt", AnnouncementKind::kTerminate},
                                           {"Terminate", AnnouncementKind::kTerminate}}};

Result<std::string> ask_azure(http::Client& http, const std::string& url, std::string_view what) {
  auto answer = get_metadata(http, url, "Metadata", "true");
  if (!answer) return std::unexpected(answer.error());
  if (answer->status != 200) return refused(what, answer->status);
  return std::move(answer->body);
}

// The document goes to all machines of an availability set or scale set and names the machines of
// each event. Names of machines are case-insensitive.
bool names(const Json& event, std::string_view machine) {
  const Json& resources = member_at(event, "Resources");
  return resources.is_array() && std::ranges::any_of(resources, [&](const Json& one) {
           return one.is_string() && to_lower(one.get<std::string>()) == to_lower(machine);
         });
}

// NotBefore is blank after the event has started.
std::optional<Time> start_of(const Json& event, const std::string& id,
                             std::span<const Announcement> known, Time now) {
  const std::string text = string_at(event, "NotBefore");
  if (!text.empty() || string_at(event, "EventStatus") != "Started") return parse_gmt(text);
  const auto before = std::ranges::find(known, id, &Announcement::id);
  return before == known.end() ? now : before->start;
}

void read_event(const Json& event, std::span<const Announcement> known, Time now,
                ReadAnnouncements& out) {
  const std::string id = string_at(event, "EventId"), type = string_at(event, "EventType");
  const auto row = std::ranges::find(kTypes, type, &EventType::type);
  const auto start = start_of(event, id, known, now);
  if (row == kTypes.end() || !start || id.empty()) {
    out.doubts.push_back("scheduled event " + id + " of type " + type + " and NotBefore " +
                         string_at(event, "NotBefore"));
    return;
  }
  const std::string description = string_at(event, "Description");
  Announcement one{.id = id,
                   .kind = row->kind,
                   .announced_by = kAzure,
                   .what = description.empty() ? type : type + ": " + description,
                   .start = *start};
  const Json& duration = member_at(event, "DurationInSeconds");  // -1: unknown
  constexpr std::int64_t kLongest = 366LL * 24 * 3600;
  if (duration.is_number_integer() && duration >= 0 && duration <= kLongest)
    one.end = one.start + std::chrono::seconds(duration.get<std::int64_t>());
  out.list.push_back(std::move(one));
}

// {"DocumentIncarnation": 2, "Events": [{"EventId": "C7061BAC-...", "EventStatus": "Scheduled",
//   "EventType": "Freeze", "ResourceType": "VirtualMachine", "Resources": ["WestNO_0"],
//   "NotBefore": "Mon, 11 Apr 2022 22:26:58 GMT", "Description": "...", "EventSource": "Platform",
//   "DurationInSeconds": 5}]} (the same page, query for events). Ended events are not listed.
Read parse_events(const std::string& text, std::string_view machine,
                  std::span<const Announcement> known, Time now) {
  const auto json = parse_json(text);
  const Json* events = json ? &member_at(*json, "Events") : nullptr;
  if (events == nullptr || !events->is_array())
    return fail(ErrorKind::kInvalid, "the document of scheduled events is unreadable");
  ReadAnnouncements out;
  for (const Json& event : *events) {
    if (names(event, machine)) read_event(event, known, now, out);
  }
  return out;
}

Read read_azure(http::Client& http, const std::string& endpoint,
                std::span<const Announcement> known, Time now) {
  const auto machine = ask_azure(http, endpoint + kNamePath, "the machine's name");
  if (!machine) return std::unexpected(machine.error());
  if (machine->empty())
    return fail(ErrorKind::kInvalid, "the metadata service does not name the machine");
  const auto events = ask_azure(http, endpoint + kEventsPath, "scheduled events");
  if (!events) return std::unexpected(events.error());
  return parse_events(*events, *machine, known, now);
}

}  // namespace

// The asset tag of all machines of Azure (cloud-init, DataSourceAzure).
Cloud azure_cloud() {
  return {.name = kAzure,
          .signs = {{"chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"}},
          .endpoint = "http://169.254.169.254",
          .read = read_azure};
}

}  // namespace gpuward::exporter
