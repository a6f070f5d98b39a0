#include "remediator/records/notice_json.h"

#include <optional>
#include <utility>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

std::vector<std::string> names_at(const Json& notice) {
  std::vector<std::string> names;
  const Json& list = member_at(notice, "sinks");
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    if (list[i].is_string()) names.push_back(list[i].get<std::string>());
  }
  return names;
}

std::optional<Notice> decode_notice(const Json& json) {
  const auto moment = parse_moment(string_at(json, "moment"));
  const auto at = parse_rfc3339(string_at(json, "at"));
  if (!moment || !at) return std::nullopt;
  return Notice{.id = string_at(json, "id"),
                .moment = *moment,
                .sinks = names_at(json),
                .at = *at,
                .severity = parse_severity(string_at(json, "severity")).value_or(Severity::kNone),
                .step = string_at(json, "step"),
                .phase = string_at(json, "phase"),
                .mode = string_at(json, "mode"),
                .message = string_at(json, "message")};
}

}  // namespace

std::vector<Notice> decode_notices(const Json& list) {
  std::vector<Notice> notices;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    if (auto notice = decode_notice(list[i])) notices.push_back(std::move(*notice));
  }
  return notices;
}

Json encode_notices(const std::vector<Notice>& notices) {
  Json list = Json::array();
  for (const Notice& notice : notices) {
    list.push_back({{"id", notice.id},
                    {"moment", std::string(to_string(notice.moment))},
                    {"sinks", notice.sinks},
                    {"at", to_rfc3339_ms(notice.at)},
                    {"severity", std::string(to_string(notice.severity))},
                    {"step", notice.step},
                    {"phase", notice.phase},
                    {"mode", notice.mode},
                    {"message", notice.message}});
  }
  return list;
}

}  // namespace gpuward::remediator
