#include "tests/fakes/kube/discovery.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpuward::fakes {
namespace {

using GroupVersion = std::pair<std::string, std::string>;

std::string path_of(const GroupVersion& gv) {
  return gv.first.empty() ? "api/" + gv.second : "apis/" + gv.first + "/" + gv.second;
}

std::set<GroupVersion> group_versions(const Registry& registry) {
  std::set<GroupVersion> all;
  for (const ResourcePtr& resource : registry.all())
    all.emplace(resource->group, resource->version);
  return all;
}

Json version_entry(const GroupVersion& gv) {
  return {{"groupVersion", gv.first + "/" + gv.second}, {"version", gv.second}};
}

Json group_list(const Registry& registry) {
  Json groups = Json::array();
  for (const GroupVersion& gv : group_versions(registry)) {
    if (gv.first.empty()) continue;
    const auto known = std::ranges::find_if(
        groups, [&](const Json& group) { return string_at(group, "name") == gv.first; });
    if (known != groups.end()) {
      (*known)["versions"].push_back(version_entry(gv));
    } else {
      groups.push_back({{"name", gv.first},
                        {"versions", Json::array({version_entry(gv)})},
                        {"preferredVersion", version_entry(gv)}});
    }
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

Json subresource_entry(const Resource& resource, const char* name, Json verbs) {
  return {{"name", resource.plural + "/" + name},
          {"singularName", ""},
          {"namespaced", resource.traits.namespaced},
          {"kind", resource.kind},
          {"verbs", std::move(verbs)}};
}

void add_entries(const Resource& resource, Json& entries) {
  Json entry = {
      {"name", resource.plural},
      {"singularName", resource.singular},
      {"namespaced", resource.traits.namespaced},
      {"kind", resource.kind},
      {"verbs", {"create", "delete", "get", "list", "patch", "update", "watch"}},
  };
  if (!resource.short_names.empty()) entry["shortNames"] = resource.short_names;
  entries.push_back(std::move(entry));
  if (resource.traits.has_status) {
    entries.push_back(subresource_entry(resource, "status", {"get", "patch", "update"}));
  }
  if (resource.plural == "pods" && resource.group.empty()) {
    Json eviction = subresource_entry(resource, "eviction", Json::array({"create"}));
    eviction["kind"] = "Eviction";
    eviction["group"] = "policy";
    eviction["version"] = "v1";
    entries.push_back(std::move(eviction));
  }
}

Json resource_list(const Registry& registry, const GroupVersion& gv) {
  Json entries = Json::array();
  for (const ResourcePtr& resource : registry.all()) {
    if (GroupVersion(resource->group, resource->version) == gv) add_entries(*resource, entries);
  }
  const std::string name = gv.first.empty() ? gv.second : gv.first + "/" + gv.second;
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", name},
          {"resources", std::move(entries)}};
}

// kubectl searches the PATCH of each kind for the parameters `fieldValidation` and `dryRun`.
Json open_api_paths(const Registry& registry, const GroupVersion& gv) {
  Json paths = Json::object();
  for (const ResourcePtr& resource : registry.all()) {
    if (GroupVersion(resource->group, resource->version) != gv) continue;
    const std::string scope = resource->traits.namespaced ? "/namespaces/{namespace}" : "";
    Json parameters = Json::array();
    for (const char* name : {"dryRun", "fieldValidation"}) {
      parameters.push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
    }
    paths["/" + path_of(gv) + scope + "/" + resource->plural + "/{name}"]["patch"] = {
        {"parameters", std::move(parameters)},
        {"x-kubernetes-group-version-kind",
         {{"group", gv.first}, {"version", gv.second}, {"kind", resource->kind}}},
        {"responses", {{"200", {{"description", "OK"}}}}}};
  }
  return paths;
}

Json open_api_document(const Registry& registry, const GroupVersion& gv) {
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "v1.37.2"}}},
          {"paths", open_api_paths(registry, gv)},
          {"components", {{"schemas", Json::object()}}}};
}

Json open_api_index(const Registry& registry) {
  Json paths = Json::object();
  for (const GroupVersion& gv : group_versions(registry)) {
    paths[path_of(gv)] = {{"serverRelativeURL", "/openapi/v3/" + path_of(gv) + "?hash=0"}};
  }
  return {{"paths", std::move(paths)}};
}

Json server_version() {
  return {{"major", "1"},        {"minor", "37"},           {"gitVersion", "v1.37.2-gpuward-fake"},
          {"gitCommit", ""},     {"gitTreeState", "clean"}, {"buildDate", "2026-01-01T00:00:00Z"},
          {"goVersion", "none"}, {"compiler", "none"},      {"platform", "linux/amd64"}};
}

}  // namespace

std::optional<Json> discover(const Registry& registry, std::string_view path) {
  if (path == "/version") return server_version();
  if (path == "/api") {
    return Json{{"kind", "APIVersions"},
                {"versions", Json::array({"v1"})},
                {"serverAddressByClientCIDRs", Json::array()}};
  }
  if (path == "/apis") return group_list(registry);
  if (path == "/openapi/v3") return open_api_index(registry);
  for (const GroupVersion& gv : group_versions(registry)) {
    if (path == "/" + path_of(gv)) return resource_list(registry, gv);
    if (path == "/openapi/v3/" + path_of(gv)) return open_api_document(registry, gv);
  }
  return std::nullopt;
}

}  // namespace gpuward::fakes
