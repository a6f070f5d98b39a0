#include "tests/fakes/kube/patches.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gpuward::fakes {
namespace {

using NamedKey = std::pair<std::string_view, std::string_view>;

// patchStrategy=merge fields of kubernetes/api core/v1 and policy/v1 types.go: list, merge key.
constexpr std::array<NamedKey, 14> kMergedLists{{{"conditions", "type"},
                                                 {"addresses", "type"},
                                                 {"containers", "name"},
                                                 {"initContainers", "name"},
                                                 {"ephemeralContainers", "name"},
                                                 {"volumes", "name"},
                                                 {"env", "name"},
                                                 {"ports", "containerPort"},
                                                 {"volumeMounts", "mountPath"},
                                                 {"ownerReferences", "uid"},
                                                 {"imagePullSecrets", "name"},
                                                 {"hostAliases", "ip"},
                                                 {"podIPs", "ip"},
                                                 {"topologySpreadConstraints", "topologyKey"}}};
constexpr std::array<std::string_view, 2> kMergedSets{"finalizers", "podCIDRs"};

std::string_view merge_key_of(std::string_view list) {
  const auto found = std::ranges::find(kMergedLists, list, &NamedKey::first);
  return found == kMergedLists.end() ? std::string_view{} : found->second;
}

bool is_directive(std::string_view key) { return key.starts_with("$"); }

Json without_directives(const Json& patch) { return apply_strategic_patch(Json::object(), patch); }

std::size_t index_of(const Json& list, const Json& item, std::string_view key) {
  const auto same = std::ranges::find_if(list, [&](const Json& candidate) {
    return member_at(candidate, key) == member_at(item, key);
  });
  return static_cast<std::size_t>(same - list.begin());
}

// Both lists keep their own order. If two items are at the front, the one that is first on the
// server goes first; an item that is new to the server goes before any other (strategicpatch's
// mergeSortedSlice).
Json merged_in_order(const Json& patched, const Json& untouched, const Json& server,
                     std::string_view key) {
  Json result = Json::array();
  std::size_t left = 0, right = 0;
  while (left < patched.size() || right < untouched.size()) {
    bool takes_left = right == untouched.size();
    if (left < patched.size() && right < untouched.size()) {
      const std::size_t index = index_of(server, patched[left], key);
      takes_left = index == server.size() || index < index_of(server, untouched[right], key);
    }
    result.push_back(takes_left ? patched[left++] : untouched[right++]);
  }
  return result;
}

Json merge_list(const Json& target, const Json& patch, std::string_view key) {
  const bool replaces = std::ranges::any_of(
      patch, [](const Json& item) { return string_at(item, "$patch") == "replace"; });
  const Json server = target.is_array() && !replaces ? target : Json::array();
  Json patched = Json::array();
  for (const Json& item : patch) {
    if (!string_at(item, "$patch").empty()) continue;
    const std::size_t index = index_of(server, item, key);
    patched.push_back(index == server.size() ? without_directives(item)
                                             : apply_strategic_patch(server[index], item));
  }
  Json untouched = Json::array();
  for (const Json& item : server) {
    if (index_of(patch, item, key) == patch.size()) untouched.push_back(item);
  }
  return merged_in_order(patched, untouched, server, key);
}

Json merge_set(Json target, const Json& patch) {
  if (!target.is_array()) target = Json::array();
  for (const Json& item : patch) {
    if (std::ranges::find(target, item) == target.end()) target.push_back(item);
  }
  return target;
}

// "$deleteFromPrimitiveList/finalizers": the values to remove from that list. The other directives,
// about order, change nothing that a client may rely on.
void apply_directive(Json& target, std::string_view directive, const Json& value) {
  constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
  if (directive.starts_with(kDelete)) {
    const std::string list(directive.substr(kDelete.size()));
    if (!target.contains(list)) return;
    Json kept = Json::array();
    for (const Json& item : target[list]) {
      if (std::ranges::find(value, item) == value.end()) kept.push_back(item);
    }
    target[list] = std::move(kept);
  }
  if (directive == "$retainKeys") {
    for (auto at = target.begin(); at != target.end();) {
      at = std::ranges::find(value, Json(at.key())) == value.end() ? target.erase(at)
                                                                   : std::next(at);
    }
  }
}

void merge_member(Json& target, const std::string& key, const Json& value) {
  if (value.is_null()) {
    target.erase(key);
  } else if (value.is_array() && !merge_key_of(key).empty()) {
    target[key] = merge_list(target[key], value, merge_key_of(key));
  } else if (value.is_array() && std::ranges::find(kMergedSets, key) != kMergedSets.end()) {
    target[key] = merge_set(std::move(target[key]), value);
  } else if (value.is_object()) {
    target[key] = apply_strategic_patch(std::move(target[key]), value);
  } else {
    target[key] = value;
  }
}

// The JSON library's exceptions about JSON Patch end here.
Outcome<Json> apply_json_patch(const Json& target, const Json& patch) {
  if (!patch.is_array()) {
    return bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  try {
    return target.patch(patch);
  } catch (const Json::exception&) {
    return std::unexpected(Failure{422, "Invalid",
                                   "the server rejected our request due to an error in our request",
                                   Json::object()});
  }
}

}  // namespace

Json apply_strategic_patch(Json target, const Json& patch) {
  if (string_at(patch, "$patch") == "delete") return Json::object();
  if (!target.is_object() || string_at(patch, "$patch") == "replace") target = Json::object();
  for (const auto& [key, value] : patch.items()) {
    if (is_directive(key)) {
      apply_directive(target, key, value);
    } else {
      merge_member(target, key, value);
    }
  }
  return target;
}

Outcome<Json> apply_patch(std::string_view content_type, const Json& target, const Json& patch) {
  if (content_type == kJsonPatch) return apply_json_patch(target, patch);
  if (!patch.is_object()) {
    return bad_request(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}");
  }
  if (content_type == kStrategicPatch) return apply_strategic_patch(target, patch);
  Json merged = target;
  merged.merge_patch(patch);
  return merged;
}

}  // namespace gpuward::fakes
