#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/encoding.h"
#include "core/runtime/text.h"
#include "tests/fakes/kube/reading.h"

namespace gpuward::fakes {
namespace {

using http::query_value;

// The beginning of the next page, and the revision of the first page.
struct Continue {
  Revision revision = 0;
  ObjectId after;
};

std::string encode(const Continue& token) {
  return encode_base64(dump_json({{"v", "meta.k8s.io/v1"},
                                  {"rv", token.revision},
                                  {"ns", token.after.ns},
                                  {"start", token.after.name}}));
}

std::optional<Continue> decode(const std::string& text, const std::string& collection) {
  const auto bytes = decode_base64(text);
  if (!bytes) return std::nullopt;
  const auto json = parse_json(*bytes);
  if (!json || !member_at(*json, "rv").is_number_integer()) return std::nullopt;
  return Continue{member_at(*json, "rv").get<Revision>(),
                  {collection, string_at(*json, "ns"), string_at(*json, "start")}};
}

Failure continue_expired() {
  return expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a "
      "new list without the continue parameter, or use the continue token in this response to "
      "retrieve "
      "the remainder of the results. Continuing with the provided token results in an inconsistent "
      "list "
      "- objects that were created, modified, or deleted between the time the first chunk was "
      "returned "
      "and now may show up in the list.");
}

Check check_revision(const World& world, const std::string& text) {
  if (text.empty() || text == "0") return {};
  const auto asked = parse_integer<Revision>(text);
  if (!asked) return bad_request("resourceVersion: Invalid value: \"" + text + "\"");
  const Revision current = world.store.revision();
  if (*asked <= current) return {};
  return std::unexpected(Failure{
      504,
      "Timeout",
      "Timeout: Too large resource version: " + text + ", current: " + std::to_string(current),
      {{"causes",
        {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}},
       {"retryAfterSeconds", 1}}});
}

// Items of built-in kinds have no kind and apiVersion, as in typed lists.
Json as_item(const Resource& resource, const Json& object) {
  Json item = object;
  if (resource.custom) return item;
  item.erase("kind");
  item.erase("apiVersion");
  return item;
}

ObjectId id_of(const Resource& resource, const Json& object) {
  const Json& metadata = member_at(object, "metadata");
  return {resource.collection(), string_at(metadata, "namespace"), string_at(metadata, "name")};
}

}  // namespace

Outcome<Selector> selector_of(const Target& target, const http::Query& query) {
  auto labels = parse_label_selector(query_value(query, "labelSelector"));
  if (!labels) return std::unexpected(labels.error());
  auto fields = parse_field_selector(query_value(query, "fieldSelector"), *target.resource);
  if (!fields) return std::unexpected(fields.error());
  if (!target.name.empty()) {
    fields->push_back({Requirement::Kind::kIn, "metadata.name", {target.name}});
  }
  return Selector(*std::move(labels), *std::move(fields));
}

Outcome<Json> list_objects(const World& world, const Target& target, const http::Query& query) {
  auto selector = selector_of(target, query);
  if (!selector) return std::unexpected(selector.error());
  if (auto check = check_revision(world, query_value(query, "resourceVersion")); !check) {
    return std::unexpected(check.error());
  }
  Continue from;
  if (const std::string token = query_value(query, "continue"); !token.empty()) {
    const auto decoded = decode(token, target.resource->collection());
    if (!decoded) return bad_request("continue key is not valid");
    if (!world.store.remembers(decoded->revision)) return std::unexpected(continue_expired());
    from = *decoded;
  }
  auto snapshot = world.store.list(target.resource->collection(), target.ns, from.after);
  if (from.revision != 0) snapshot.revision = from.revision;
  const auto limit = parse_integer<std::size_t>(query_value(query, "limit")).value_or(0);
  Json items = Json::array();
  Json metadata = {{"resourceVersion", std::to_string(snapshot.revision)}};
  if (target.resource->custom) metadata["continue"] = "";  // unstructured lists always have it
  for (std::size_t i = 0; i < snapshot.objects.size(); ++i) {
    const Json& object = *snapshot.objects[i];
    if (!selector->selects(object)) continue;
    items.push_back(as_item(*target.resource, object));
    const std::size_t left = snapshot.objects.size() - i - 1;
    if (limit == 0 || items.size() < limit || left == 0) continue;
    metadata["continue"] = encode({snapshot.revision, id_of(*target.resource, object)});
    if (selector->empty()) metadata["remainingItemCount"] = left;
    break;
  }
  return Json{{"kind", target.resource->kind + "List"},
              {"apiVersion", target.resource->api_version()},
              {"metadata", std::move(metadata)},
              {"items", std::move(items)}};
}

}  // namespace gpuward::fakes
