#include "remediator/cli/commands/command_json.h"

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr int kIndent = 4;  // as in kubectl

Json whole_objects(std::span<const kube::CustomObject> objects) {
  Json list = Json::array();
  for (const kube::CustomObject& object : objects) {
    Json json = *object.json;
    if (!json.is_object()) continue;
    if (json["metadata"].is_object()) json["metadata"].erase("managedFields");
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string list_json(std::span<const kube::CustomObject> objects) {
  const Json list = {{"apiVersion", "v1"},
                     {"kind", "List"},
                     {"items", whole_objects(objects)},
                     {"metadata", {{"resourceVersion", ""}}}};
  return list.dump(kIndent, ' ', false, Json::error_handler_t::replace);
}

std::string explanation_json(const std::string& node, const std::string& excluded,
                             const std::string& disagrees,
                             std::span<const kube::CustomObject> objects) {
  return dump_json(
      {{"node", node},
       {"excluded", excluded.empty() ? Json(nullptr) : Json(std::string(trim(excluded)))},
       {"disagrees", disagrees.empty() ? Json(nullptr) : Json(std::string(trim(disagrees)))},
       {"remediations", whole_objects(objects)}});
}

std::string breaker_json(const Breaker& breaker) {
  const bool was_touched = breaker.since != WallTime();
  return dump_json({{"open", breaker.open},
                    {"since", was_touched ? Json(to_rfc3339_ms(breaker.since)) : Json(nullptr)},
                    {"why", breaker.why},
                    {"by", breaker.by}});
}

Json exclusion_items(const Excluded& excluded) {
  Json items = Json::array();
  for (const auto& [name, exclusion] : excluded) {
    const bool has_start = exclusion.since != WallTime();
    const bool has_end = exclusion.until != WallTime::max();
    items.push_back({{"name", name},
                     {"since", has_start ? Json(to_rfc3339(exclusion.since)) : Json(nullptr)},
                     {"until", has_end ? Json(to_rfc3339(exclusion.until)) : Json(nullptr)},
                     {"reason", exclusion.reason},
                     {"by", exclusion.by}});
  }
  return items;
}

std::string exclusions_json(const Excluded& excluded) {
  return dump_json({{"items", exclusion_items(excluded)}});
}

}  // namespace gpuward::remediator
