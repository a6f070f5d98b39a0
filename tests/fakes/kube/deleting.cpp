#include "tests/fakes/kube/deleting.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "tests/fakes/kube/definitions.h"

namespace gpuward::fakes {
namespace {

// The grace period of the pod in seconds; 0 if no kubelet has to end it
// (pkg/registry/core/pod/strategy.go).
std::int64_t grace_of(const Json& pod, const Json& options) {
  const Json& spec = member_at(pod, "spec");
  const std::string phase = string_at(member_at(pod, "status"), "phase");
  const Json& asked = member_at(options, "gracePeriodSeconds");
  const Json& own = member_at(spec, "terminationGracePeriodSeconds");
  if (string_at(spec, "nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
  if (asked.is_number_integer()) return asked.get<std::int64_t>();
  return own.is_number_integer() ? own.get<std::int64_t>() : 30;
}

Json terminating(const World& world, Json object, std::int64_t grace) {
  object["metadata"]["deletionTimestamp"] =
      to_rfc3339(world.clock.wall() + std::chrono::seconds(grace));
  object["metadata"]["deletionGracePeriodSeconds"] = grace;
  return object;
}

bool has_finalizers(const Json& object) {
  return !member_at(metadata_of(object), "finalizers").empty();
}

// Deletes what depends on the object: a definition's kind, with all of its objects.
void end_dependents(World& world, const Target& target, const Json& object) {
  if (target.resource->plural != "customresourcedefinitions") return;
  const std::string group = string_at(member_at(object, "spec"), "group");
  const std::string plural = string_at(member_at(member_at(object, "spec"), "names"), "plural");
  for (const Object& left : world.store.list(group + "/" + plural, "").objects) {
    world.store.erase({group + "/" + plural, string_at(metadata_of(*left), "namespace"),
                       string_at(metadata_of(*left), "name")});
  }
  world.registry.define(group, plural, {});
}

Object start_termination(World& world, const Target& target, const Object& before,
                         std::int64_t grace, Persist persist) {
  const Json& known = member_at(metadata_of(*before), "deletionGracePeriodSeconds");
  // A second DELETE only ever shortens the wait.
  if (known.is_number_integer() && known.get<std::int64_t>() <= grace) return before;
  Json changed = terminating(world, *before, grace);
  if (persist == Persist::kDryRun) return std::make_shared<const Json>(std::move(changed));
  return world.store.put(target.id(), std::move(changed));
}

}  // namespace

Check check_delete_preconditions(const Target& target, const Json& before, const Json& options) {
  const Json& preconditions = member_at(options, "preconditions");
  const std::string uid = string_at(preconditions, "uid");
  const std::string actual_uid = string_at(metadata_of(before), "uid");
  if (!uid.empty() && uid != actual_uid) {
    return precondition_failed(target.resource->about(), target.name,
                               "the UID in the precondition (" + uid +
                                   ") does not match the UID in record (" + actual_uid +
                                   "). The object might have been deleted and then recreated");
  }
  const std::string version = string_at(preconditions, "resourceVersion");
  const std::string actual = string_at(metadata_of(before), "resourceVersion");
  if (!version.empty() && version != actual) {
    return precondition_failed(target.resource->about(), target.name,
                               "the ResourceVersion in the precondition (" + version +
                                   ") does not match the ResourceVersion in record (" + actual +
                                   "). The object might have been modified");
  }
  return {};
}

Object end_object(World& world, const Target& target, const Object& before, const Json& options,
                  Persist persist) {
  const bool is_pod = target.resource->plural == "pods";
  const std::int64_t grace =
      is_pod && world.pod_end == PodEnd::kKubelet ? grace_of(*before, options) : 0;
  if (grace > 0 || has_finalizers(*before)) {
    return start_termination(world, target, before, grace, persist);
  }
  if (target.resource->plural == "namespaces") {
    Json ending = terminating(world, *before, 0);
    ending["status"]["phase"] = "Terminating";
    return persist == Persist::kDryRun ? std::make_shared<const Json>(std::move(ending))
                                       : world.store.put(target.id(), std::move(ending));
  }
  if (persist == Persist::kDryRun) return before;
  const Object last = world.store.erase(target.id());
  end_dependents(world, target, *before);
  return last;
}

Outcome<Json> delete_object(World& world, const Target& target, const Json& options,
                            Persist persist) {
  const std::lock_guard lock(world.writing);
  const Object before = world.store.find(target.id());
  if (!before) return not_found(target.resource->about(), target.name);
  if (auto check = check_delete_preconditions(target, *before, options); !check) {
    return std::unexpected(check.error());
  }
  const Object after = end_object(world, target, before, options, persist);
  const bool is_gone = !member_at(*after, "metadata").contains("deletionTimestamp");
  // The answer for a pod or an object with finalizers is the object; for a deleted one it is a
  // Status (rest.Store.ReturnDeletedObject).
  if (!is_gone || target.resource->plural == "pods") return *after;
  Json details = {{"name", target.name},
                  {"kind", target.resource->plural},
                  {"uid", string_at(metadata_of(*before), "uid")}};
  if (!target.resource->group.empty()) details["group"] = target.resource->group;
  return Json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", Json::object()},
              {"status", "Success"},
              {"details", std::move(details)}};
}

}  // namespace gpuward::fakes
