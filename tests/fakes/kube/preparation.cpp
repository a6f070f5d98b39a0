#include "tests/fakes/kube/preparation.h"

#include <string>
#include <utility>

#include "tests/fakes/kube/definitions.h"
#include "tests/fakes/kube/normal_form.h"
#include "tests/fakes/kube/schema.h"
#include "tests/fakes/kube/validation.h"

namespace gpuward::fakes {
namespace {

void prepare_kind_for_create(World& world, const Resource& resource, Json& object) {
  if (resource.plural == "pods") {
    object["status"] = {{"phase", "Pending"}, {"qosClass", "BestEffort"}};
    Json& spec = object["spec"];
    if (!spec.contains("terminationGracePeriodSeconds")) spec["terminationGracePeriodSeconds"] = 30;
    if (!spec.contains("restartPolicy")) spec["restartPolicy"] = "Always";
  }
  if (resource.plural == "poddisruptionbudgets") {
    object["status"] = {{"currentHealthy", 0},
                        {"desiredHealthy", 0},
                        {"disruptionsAllowed", 0},
                        {"expectedPods", 0}};
  }
  if (resource.plural == "nodes") taint_unready_node(object);
  if (resource.plural == "namespaces") object["status"] = {{"phase", "Active"}};
  if (resource.plural == "customresourcedefinitions") establish(object, world.now());
}

}  // namespace

Check adopt_type(const Resource& resource, Json& object) {
  if (!object.is_object()) return bad_request("the body of the request is not a JSON object");
  const std::string version = string_at(object, "apiVersion");
  const std::string kind = string_at(object, "kind");
  if (resource.custom && (kind.empty() || version.empty())) {
    return bad_request("Object 'Kind' is missing in '" + dump_json(object) + "'");
  }
  if (!version.empty() && version != resource.api_version()) {
    return bad_request("the API version in the data (" + version +
                       ") does not match the expected API version (" + resource.api_version() +
                       ")");
  }
  if (!kind.empty() && kind != resource.kind) {
    if (resource.custom) {
      return invalid(
          {resource.group, resource.plural, kind}, string_at(member_at(object, "metadata"), "name"),
          {{"FieldValueInvalid", "Invalid value: " + dump_json(kind) + ": must be " + resource.kind,
            "kind"}});
    }
    return bad_request(kind + " in version \"" + resource.version + "\" cannot be handled as a " +
                       resource.kind);
  }
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  if (member_at(object, "metadata").is_null()) object["metadata"] = Json::object();
  return check_types(resource, object);
}

Check adopt_namespace(const Target& target, Json& object) {
  Json& metadata = object["metadata"];
  if (!target.resource->traits.namespaced) {
    metadata.erase("namespace");
    return {};
  }
  const std::string ns = string_at(metadata, "namespace");
  if (!ns.empty() && ns != target.ns) {
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the "
        "request");
  }
  metadata["namespace"] = target.ns;
  return {};
}

Check require_namespace(const World& world, const Target& target, const std::string& name) {
  if (!target.resource->traits.namespaced) return {};
  const Object ns = world.store.find({"/namespaces", "", target.ns});
  if (!ns) return not_found({"", "namespaces", "Namespace"}, target.ns);
  if (!member_at(*ns, "metadata").contains("deletionTimestamp")) return {};
  const std::string& plural = target.resource->plural;
  Json cause = {{"reason", "NamespaceTerminating"},
                {"message", "namespace " + target.ns + " is being terminated"},
                {"field", "metadata.namespace"}};
  Json details = {{"kind", plural}, {"causes", Json::array({std::move(cause)})}};
  if (!name.empty()) details["name"] = name;
  return std::unexpected(Failure{403, "Forbidden",
                                 plural + (name.empty() ? "" : " \"" + name + "\"") +
                                     " is forbidden: unable to create new content in namespace " +
                                     target.ns + " because it is being terminated",
                                 std::move(details)});
}

void prepare_for_create(World& world, const Resource& resource, Json& object) {
  Json& metadata = object["metadata"];
  const std::string prefix = string_at(metadata, "generateName");
  if (string_at(metadata, "name").empty() && !prefix.empty()) {
    metadata["name"] = prefix + world.new_suffix();
  }
  metadata["uid"] = world.new_uid();
  metadata["creationTimestamp"] = world.now();
  metadata.erase("deletionTimestamp");
  if (resource.traits.has_generation) metadata["generation"] = 1;
  if (resource.traits.has_status && !resource.traits.keeps_status) object.erase("status");
  prepare_kind_for_create(world, resource, object);
  if (resource.custom) {
    prune(object, resource.schema);
    fill_defaults(object, resource.schema);
  }
  write_normally(resource, object);
}

}  // namespace gpuward::fakes
