#include "core/kube/node_patch.h"

#include <algorithm>

#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

bool same_identity(const Taint& a, const Taint& b) {
  return a.key == b.key && a.effect == b.effect;
}

bool same_taint(const Taint& a, const Taint& b) {
  return same_identity(a, b) && a.value == b.value;
}

// Sends a taint as it was read, so that timeAdded and fields of later releases survive; builds a
// new one from its parts.
Json json_of(const Taint& taint) {
  if (!taint.raw.empty()) {
    if (auto raw = parse_json(taint.raw)) return std::move(*raw);
  }
  Json made = {{"key", taint.key}, {"effect", taint.effect}};
  if (!taint.value.empty()) made["value"] = taint.value;
  return made;
}

void set_taint(std::vector<Taint>& taints, const Taint& wanted) {
  const auto at = std::find_if(taints.begin(), taints.end(),
                               [&](const Taint& t) { return same_identity(t, wanted); });
  Taint made = wanted;
  made.raw.clear();
  if (at == taints.end()) {
    taints.push_back(std::move(made));
  } else if (!same_taint(*at, wanted)) {
    *at = std::move(made);
  }
}

// Returns the members that differ: a value to set, or null to remove.
Json entries_patch(const Labels& seen, const Labels& set, const std::vector<std::string>& removed) {
  Json patch = Json::object();
  for (const std::string& key : removed) {
    if (seen.contains(key)) patch[key] = nullptr;
  }
  for (const auto& [key, value] : set) {
    const auto at = seen.find(key);
    if (at == seen.end() || at->second != value) {
      patch[key] = value;
    } else {
      patch.erase(key);
    }
  }
  return patch;
}

Json spec_patch(const Node& seen, const NodeChange& change) {
  Json spec = Json::object();
  if (change.unschedulable && *change.unschedulable != seen.unschedulable) {
    // kubectl uncordons by removing the field as well.
    spec["unschedulable"] = *change.unschedulable ? Json(true) : Json(nullptr);
  }
  const auto taints = taints_after(seen.taints, change);
  if (!std::equal(taints.begin(), taints.end(), seen.taints.begin(), seen.taints.end(),
                  same_taint)) {
    Json list = Json::array();
    for (const Taint& taint : taints) list.push_back(json_of(taint));
    spec["taints"] = std::move(list);
  }
  return spec;
}

}  // namespace

std::vector<Taint> taints_after(const std::vector<Taint>& seen, const NodeChange& change) {
  std::vector<Taint> taints = seen;
  for (const Taint& gone : change.remove_taints) {
    std::erase_if(taints, [&](const Taint& taint) { return same_identity(taint, gone); });
  }
  for (const Taint& wanted : change.set_taints) set_taint(taints, wanted);
  return taints;
}

std::string node_patch(const Node& seen, const NodeChange& change) {
  Json labels = entries_patch(seen.meta.labels, change.set_labels, change.remove_labels);
  Json annotations =
      entries_patch(seen.meta.annotations, change.set_annotations, change.remove_annotations);
  Json spec = spec_patch(seen, change);
  if (labels.empty() && annotations.empty() && spec.empty()) return {};
  Json patch = {
      {"metadata", {{"resourceVersion", seen.meta.resource_version}, {"uid", seen.meta.uid}}}};
  if (!labels.empty()) patch["metadata"]["labels"] = std::move(labels);
  if (!annotations.empty()) patch["metadata"]["annotations"] = std::move(annotations);
  if (!spec.empty()) patch["spec"] = std::move(spec);
  return dump_json(patch);
}

}  // namespace gpuward::kube
