#include "core/kube/node_announcements.h"

#include <array>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

struct AnnouncementText {
  const char* key;
  std::string Announcement::* text;
  std::size_t longest;
};

constexpr std::array<AnnouncementText, 4> kAnnouncementTexts{
    {{"id", &Announcement::id, 128},
     {"by", &Announcement::announced_by, 64},
     {"what", &Announcement::what, 500},
     {"workload", &Announcement::workload, 500}}};

Json to_json(const NodeAnnouncement& one) {
  const Announcement& announced = one.announced;
  Json json = {{"kind", to_string(announced.kind)},
               {"start", to_rfc3339(announced.start)},
               {"firstSeen", to_rfc3339(announced.first_seen)}};
  for (const AnnouncementText& text : kAnnouncementTexts) {
    const std::string& value = announced.*text.text;
    if (!value.empty()) json[text.key] = to_valid_utf8(value, text.longest);
  }
  if (announced.end) json["end"] = to_rfc3339(*announced.end);
  if (one.is_stale) json["stale"] = true;
  if (!one.boot_id.empty()) json["boot"] = to_valid_utf8(one.boot_id, 64);
  return json;
}

std::optional<NodeAnnouncement> to_announcement(const Json& json) {
  NodeAnnouncement one;
  for (const AnnouncementText& text : kAnnouncementTexts)
    one.announced.*text.text = to_valid_utf8(string_at(json, text.key), text.longest);
  const auto kind = enumerator_of<AnnouncementKind>(kAnnouncementKinds, string_at(json, "kind"));
  const auto start = parse_rfc3339(string_at(json, "start"));
  const auto seen = parse_rfc3339(string_at(json, "firstSeen"));
  if (!kind || !start || !seen || one.announced.id.empty()) return std::nullopt;
  one.announced.kind = *kind;
  one.announced.start = *start;
  one.announced.first_seen = *seen;
  one.announced.end = parse_rfc3339(string_at(json, "end"));
  one.boot_id = string_at(json, "boot");
  one.is_stale = member_at(json, "stale") == true;
  return one;
}

}  // namespace

std::string node_announcements_text(const std::vector<NodeAnnouncement>& list) {
  Json json = Json::array();
  for (const NodeAnnouncement& one : list) {
    if (json.size() == kMostNodeAnnouncements) break;
    json.push_back(to_json(one));
  }
  return dump_json(json);
}

std::vector<NodeAnnouncement> node_announcements_of(const kube::Node& node) {
  const auto found = node.meta.annotations.find(std::string(kAnnouncementsAnnotation));
  if (found == node.meta.annotations.end()) return {};
  const auto json = parse_json(found->second);
  if (!json || !json->is_array()) return {};
  std::vector<NodeAnnouncement> list;
  for (const Json& item : *json) {
    if (auto one = to_announcement(item)) list.push_back(*std::move(one));
    if (list.size() == kMostNodeAnnouncements) break;
  }
  return list;
}

std::string summary_of(const Announcement& announced) {
  return std::string(to_string(announced.kind)) + " from " + to_rfc3339(announced.start) + " (" +
         announced.announced_by + ": " + announced.what + ")";
}

}  // namespace gpuward
