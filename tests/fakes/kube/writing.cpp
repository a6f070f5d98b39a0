#include "tests/fakes/kube/writing.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/kube/definitions.h"
#include "tests/fakes/kube/normal_form.h"
#include "tests/fakes/kube/patches.h"
#include "tests/fakes/kube/preparation.h"
#include "tests/fakes/kube/schema.h"
#include "tests/fakes/kube/validation.h"

namespace gpuward::fakes {
namespace {

enum class Verb { kPut, kPatch };

const Json& metadata_of(const Json& object) { return member_at(object, "metadata"); }

std::string meta_text(const Json& object, std::string_view key) {
  return string_at(metadata_of(object), key);
}

void announce_definition(World& world, const Resource& resource, const Json& object) {
  if (resource.plural != "customresourcedefinitions") return;
  world.registry.define(string_at(member_at(object, "spec"), "group"),
                        string_at(member_at(member_at(object, "spec"), "names"), "plural"),
                        resources_of(object));
}

Outcome<Written> create_locked(World& world, const Target& target, Json body, Persist persist) {
  const Resource& resource = *target.resource;
  if (auto check = adopt_type(resource, body); !check) return std::unexpected(check.error());
  if (auto check = adopt_namespace(target, body); !check) return std::unexpected(check.error());
  if (!meta_text(body, "resourceVersion").empty()) {
    return std::unexpected(
        Failure{500, "", "resourceVersion should not be set on objects to be created", nullptr});
  }
  if (auto check = require_namespace(world, target, meta_text(body, "name")); !check)
    return std::unexpected(check.error());
  prepare_for_create(world, resource, body);
  const std::string name = meta_text(body, "name");
  if (const auto causes = faults_of(resource, body); !causes.empty()) {
    return invalid(resource.about(), name, causes);
  }
  const ObjectId id{resource.collection(), target.ns, name};
  if (world.store.find(id)) return already_exists(resource.about(), name);
  if (persist == Persist::kDryRun)
    return Written{std::make_shared<const Json>(std::move(body)), 201};
  announce_definition(world, resource, body);
  return Written{world.store.put(id, std::move(body)), 201};
}

// Keeps the old value of all metadata that a client cannot change.
void keep_server_fields(const Json& before, Json& object) {
  Json& metadata = object["metadata"];
  for (const char* key : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "generation", "uid", "resourceVersion"}) {
    metadata.erase(key);
    if (metadata_of(before).contains(key)) metadata[key] = before["metadata"][key];
  }
}

void keep(const Json& before, Json& object, const char* member) {
  object.erase(member);
  if (before.contains(member)) object[member] = before[member];
}

// The main resource does not change the status; the status subresource changes nothing else. A
// custom resource's status request does not change metadata either (apiextensions-apiserver
// status_strategy.go).
void isolate_status(const Target& target, const Json& before, Json& object) {
  const Resource& resource = *target.resource;
  if (!resource.traits.has_status) return;
  if (target.subresource != "status") {
    keep(before, object, "status");
  } else if (resource.custom) {
    Json status = object.contains("status") ? std::move(object["status"]) : Json();
    object = before;
    object.erase("status");
    if (!status.is_null()) object["status"] = std::move(status);
  } else {
    keep(before, object, "spec");
  }
}

bool same_but_metadata_and_status(const Json& before, const Json& object) {
  Json one = before;
  Json other = object;
  for (const char* member : {"metadata", "status"}) {
    one.erase(member);
    other.erase(member);
  }
  return one == other;
}

void bump_generation(const Resource& resource, const Json& before, Json& object) {
  if (!resource.traits.has_generation || same_but_metadata_and_status(before, object)) return;
  const Json& generation = member_at(metadata_of(before), "generation");
  object["metadata"]["generation"] =
      generation.is_number_integer() ? generation.get<std::int64_t>() + 1 : 1;
}

// A PUT uses the uid in its body as a precondition (409); a PATCH that changes it is an invalid
// change.
Check check_preconditions(const Target& target, const Json& before, const Json& object, Verb verb) {
  const About about = target.resource->about();
  const std::string uid = meta_text(object, "uid");
  if (verb == Verb::kPut && !uid.empty() && uid != meta_text(before, "uid")) {
    return conflict(about, target.name,
                    "Precondition failed: UID in precondition: " + uid +
                        ", UID in object meta: " + meta_text(before, "uid"));
  }
  const std::string version = meta_text(object, "resourceVersion");
  if (version.empty() || version == "0") {
    if (target.resource->traits.unconditional_update) return {};
    return invalid({about.group, about.plural, about.plural}, target.name,
                   {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                     "metadata.resourceVersion"}});
  }
  if (version != meta_text(before, "resourceVersion")) return modified(about, target.name);
  return {};
}

Check check_identity(const Target& target, const Json& before, const Json& object) {
  std::vector<Cause> causes;
  for (const char* key : {"name", "uid"}) {
    const std::string value = meta_text(object, key);
    if (value.empty() || value == meta_text(before, key)) continue;
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + dump_json(value) + ": field is immutable",
                      std::string("metadata.") + key});
  }
  if (causes.empty()) return {};
  return invalid(target.resource->about(), target.name, causes);
}

bool is_finished(const Json& object) {
  return metadata_of(object).contains("deletionTimestamp") &&
         member_at(metadata_of(object), "finalizers").empty() &&
         member_at(metadata_of(object), "deletionGracePeriodSeconds") == 0;
}

// A fault that a PUT answers with 400 is an invalid patch in a PATCH.
std::unexpected<Failure> as_patch_fault(const Resource& resource, const Failure& failure) {
  if (failure.code != 400) return std::unexpected(failure);
  return invalid(resource.about(), "",
                 {{"FieldValueInvalid", "Invalid value: " + failure.message, "patch"}});
}

// Turns a client's proposal into the stored object.
Outcome<Written> commit(World& world, const Target& target, const Object& before, Json object,
                        Persist persist, Verb verb) {
  const Resource& resource = *target.resource;
  if (auto check = adopt_type(resource, object); !check) {
    return verb == Verb::kPatch ? as_patch_fault(resource, check.error())
                                : std::unexpected(check.error());
  }
  if (meta_text(object, "name") != target.name) {
    return bad_request("the name of the object (" + meta_text(object, "name") +
                       ") does not match the name on the URL (" + target.name + ")");
  }
  if (auto check = adopt_namespace(target, object); !check) return std::unexpected(check.error());
  if (auto check = check_preconditions(target, *before, object, verb); !check) {
    return std::unexpected(check.error());
  }
  if (auto check = check_identity(target, *before, object); !check) {
    return std::unexpected(check.error());
  }
  keep_server_fields(*before, object);
  isolate_status(target, *before, object);
  if (resource.custom) {
    prune(object, resource.schema);
    fill_defaults(object, resource.schema);
  }
  write_normally(resource, object);
  bump_generation(resource, *before, object);
  if (const auto causes = faults_of_update(resource, *before, object); !causes.empty()) {
    return invalid(resource.about(), target.name, causes);
  }
  if (object == *before) return Written{before, 200};
  if (persist == Persist::kDryRun)
    return Written{std::make_shared<const Json>(std::move(object)), 200};
  announce_definition(world, resource, object);
  if (is_finished(object)) {
    world.store.erase(target.id());
    return Written{std::make_shared<const Json>(std::move(object)), 200};
  }
  return Written{world.store.put(target.id(), std::move(object)), 200};
}

Check check_subresource(const Target& target) {
  if (target.subresource.empty()) return {};
  if (target.subresource == "status" && target.resource->traits.has_status) return {};
  return no_such_path();
}

}  // namespace

Outcome<Written> create_object(World& world, const Target& target, Json body, Persist persist) {
  if (target.resource->traits.namespaced && target.ns.empty()) return method_not_allowed();
  const std::lock_guard lock(world.writing);
  return create_locked(world, target, std::move(body), persist);
}

Outcome<Written> replace_object(World& world, const Target& target, Json body, Persist persist) {
  if (auto check = check_subresource(target); !check) return std::unexpected(check.error());
  const std::lock_guard lock(world.writing);
  const Object before = world.store.find(target.id());
  if (before) return commit(world, target, before, std::move(body), persist, Verb::kPut);
  if (!target.resource->traits.create_on_update) {
    return not_found(target.resource->about(), target.name);
  }
  return create_locked(world, target, std::move(body), persist);
}

Outcome<Written> patch_object(World& world, const Target& target, std::string_view content_type,
                              const Json& patch, Persist persist) {
  if (auto check = check_subresource(target); !check) return std::unexpected(check.error());
  const bool strategic = content_type == kStrategicPatch;
  if ((strategic && target.resource->custom) ||
      (!strategic && content_type != kMergePatch && content_type != kJsonPatch)) {
    return unsupported_media_type(
        target.resource->custom
            ? "application/json-patch+json, application/merge-patch+json, "
              "application/apply-patch+yaml"
            : "application/json-patch+json, application/merge-patch+json, "
              "application/strategic-merge-patch+json, application/apply-patch+yaml");
  }
  const std::lock_guard lock(world.writing);
  const Object before = world.store.find(target.id());
  if (!before) return not_found(target.resource->about(), target.name);
  auto patched = apply_patch(content_type, *before, patch);
  if (!patched) return std::unexpected(patched.error());
  return commit(world, target, before, *std::move(patched), persist, Verb::kPatch);
}

}  // namespace gpuward::fakes
