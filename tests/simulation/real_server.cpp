#include "tests/simulation/real_server.h"

#include "remediator/cluster/remediation_json.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {
namespace {

std::vector<std::string> collections() {
  const std::string state = "/namespaces/" + kStateNamespace;
  return {"/api/v1/nodes", remediation_collection(), "/api/v1" + state + "/configmaps",
          "/apis/coordination.k8s.io/v1" + state + "/leases", kAttachments};
}

// The path without its subresource; for a creation, the path of the new object.
std::string object_of(const Written& write) {
  constexpr std::string_view kStatus = "/status";
  if (write.method == "POST") {
    return write.path + "/" + string_at(member_at(write.body, "metadata"), "name");
  }
  if (!write.path.ends_with(kStatus)) return write.path;
  return write.path.substr(0, write.path.size() - kStatus.size());
}

// The part of an object that is the same on both servers.
Json normalised(Json object) {
  for (const char* own : {"uid", "resourceVersion", "creationTimestamp", "generation",
                          "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    object["metadata"].erase(own);
  }
  return object;
}

std::map<std::string, Json> by_name(const Json& list) {
  std::map<std::string, Json> objects;
  for (const Json& object : member_at(list, "items")) {
    Json one = normalised(object);
    one.erase("kind");  // some servers omit it in lists
    one.erase("apiVersion");
    objects.emplace(string_at(object["metadata"], "name"), std::move(one));
  }
  return objects;
}

}  // namespace

std::string RealServer::deliver(const std::vector<Written>& writes) {
  for (const Written& write : writes) {
    if (auto difference = tell_one(write); !difference.empty()) return difference;
  }
  return {};
}

std::string RealServer::tell_one(const Written& write) {
  const std::string object = object_of(write);
  Json body = translated(object, write.body);
  // The real server runs without the admission plug-in that taints a node which is not ready: the
  // taints of the fake server are sent along.
  if (write.method == "POST" && write.path == "/api/v1/nodes" &&
      member_at(write.answer, "spec").contains("taints"))
    body["spec"]["taints"] = write.answer["spec"]["taints"];
  const auto answer =
      plane_.request(write.method, write.path, body.is_null() ? std::string() : dump_json(body));
  if (!answer) return write.path + ": " + answer.error().message;
  if (answer->status != write.status) {
    return write.method + " " + write.path + ": " + std::to_string(write.status) +
           " on the fake, here " + answer->body + " to " + dump_json(body);
  }
  if (write.status / 100 != 2 || write.answer.is_null()) return {};
  const Json there = parse_json(answer->body).value_or(nullptr);
  const Json& known = member_at(write.answer, "metadata");
  const Json& found = member_at(there, "metadata");
  uids_[string_at(known, "uid")] = string_at(found, "uid");
  versions_[object + "@" + string_at(known, "resourceVersion")] =
      string_at(found, "resourceVersion");
  return {};
}

Json RealServer::translated(const std::string& object, Json body) const {
  if (!body.is_object() || !body.contains("metadata")) return body;
  Json& metadata = body["metadata"];
  if (metadata.contains("uid")) {
    const auto uid = uids_.find(string_at(metadata, "uid"));
    if (uid != uids_.end()) metadata["uid"] = uid->second;
  }
  if (metadata.contains("resourceVersion")) {
    const auto version = versions_.find(object + "@" + string_at(metadata, "resourceVersion"));
    metadata["resourceVersion"] = version == versions_.end() ? "1" : version->second;
  }
  return body;
}

std::string RealServer::compare(fakes::FakeKube& fake) const {
  for (const std::string& collection : collections()) {
    const auto expected = by_name(fake.get(collection));
    auto found = by_name(ask("GET", collection));
    found.erase("kube-root-ca.crt");
    for (const auto& [name, object] : expected) {
      const auto same = found.find(name);
      if (same == found.end()) return collection + "/" + name + " is not there";
      if (same->second == object) continue;
      return collection + "/" + name + " differs: " + Json::diff(object, same->second).dump();
    }
    if (found.size() != expected.size()) return collection + " has more objects";
  }
  return {};
}

void RealServer::clear() {
  for (const std::string& collection : collections()) {
    for (const auto& [name, object] : by_name(ask("GET", collection))) {
      const std::string path = collection + "/" + name;
      (void)ask("PATCH", path, {{"metadata", {{"finalizers", nullptr}}}});
      (void)ask("DELETE", path);
    }
  }
  uids_.clear();
  versions_.clear();
}

Json RealServer::ask(const std::string& method, const std::string& path, const Json& body) const {
  const auto answer =
      plane_.request(method, path, body.is_null() ? std::string() : dump_json(body));
  return answer ? parse_json(answer->body).value_or(nullptr) : Json();
}

}  // namespace gpuward::remediator::simulation
