#include "bench/fleet_cluster.h"

#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::bench {
namespace {

constexpr std::size_t kPutters = 4;

std::string a_day_ago() { return to_rfc3339(lasting_clock().wall() - std::chrono::hours(24)); }

std::string padded(std::size_t number) {
  std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

std::string uid_of(const std::string& kind, const std::string& digits) {
  return kind + "000000-0000-4000-8000-0000000" + digits;
}

Json node_object(std::size_t index, const std::string& created) {
  Json node = fakes::ready_node(node_name(index));
  node["metadata"]["uid"] = node_uid(index);
  node["metadata"]["creationTimestamp"] = created;
  node["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "p5.48xlarge";
  node["status"]["nodeInfo"]["bootID"] = kBootOfAll;
  node["status"]["capacity"] = {{"nvidia.com/gpu", "8"}};
  return node;
}

Json pod_object(const std::string& name, std::size_t node, const std::string& created) {
  Json pod = fakes::pod(name, node_name(node), {{"app", "work"}});
  pod["metadata"]["namespace"] = "default";
  pod["metadata"]["uid"] = "uid-of-" + name;
  pod["metadata"]["creationTimestamp"] = created;
  pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                     {"kind", "ReplicaSet"},
                                                     {"name", "work"},
                                                     {"uid", "uid-of-work"},
                                                     {"controller", true}}});
  pod["status"] = fakes::running_status()["status"];
  return pod;
}

http::ClientTls trusting(const support::ControlPlane& plane) {
  http::ClientTls tls;
  tls.ca_pem = plane.ca_pem();
  return tls;
}

void check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

}  // namespace

std::string node_name(std::size_t index) { return "gpu-" + padded(index); }
std::string node_uid(std::size_t index) { return uid_of("ab", padded(index)); }

std::string pod_name(const std::string& prefix, std::size_t node, std::size_t index) {
  return prefix + "-" + padded(node) + "-" + std::to_string(index);
}

FleetCluster::FleetCluster(std::size_t nodes) {
  folder_.write("audit.yaml", std::string("apiVersion: audit.k8s.io/v1\nkind: Policy\n"
                                          "omitStages: [RequestReceived]\nrules:\n"
                                          "- level: Metadata\n  users: [\"") +
                                  remediator::kRemediatorUser + "\", \"" + kBareUser +
                                  "\"]\n- level: None\n");
  support::ControlPlaneOptions options;
  options.users.push_back({kBareToken, kBareUser, {"system:serviceaccounts"}});
  options.apiserver_flags = {"--audit-policy-file=" + (folder_ / "audit.yaml").string(),
                             "--audit-log-path=" + (folder_ / "audit.log").string()};
  hands_ = std::make_unique<remediator::PlaneHands>(std::move(options));
  const auto bound =
      plane().kubectl({"create", "clusterrolebinding", "bare-writer", "--clusterrole=cluster-admin",
                       std::string("--user=") + kBareUser});
  if (!bound || bound->exit_code != 0) throw std::runtime_error("no rights for the bare writer");
  const std::string created = a_day_ago();
  for_each_from(kPutters, nodes, [&](std::size_t, std::size_t i) {
    check(plane().put_into_store("/registry/minions/" + node_name(i),
                                 dump_json(node_object(i, created))));
  });
}

void FleetCluster::put_pods(std::size_t first, std::size_t nodes, std::size_t each,
                            const std::string& prefix) {
  const std::string created = a_day_ago();
  for_each_from(kPutters, nodes * each, [&](std::size_t, std::size_t i) {
    const std::size_t node = first + i / each;
    const std::string name = pod_name(prefix, node, i % each);
    check(plane().put_into_store("/registry/pods/default/" + name,
                                 dump_json(pod_object(name, node, created))));
  });
}

std::map<std::string, std::size_t> FleetCluster::requests_of(const std::string& user) const {
  std::map<std::string, std::size_t> counts;
  std::ifstream log(folder_ / "audit.log");
  for (std::string line; std::getline(log, line);) {
    if (!line.contains("\"username\":\"" + user + "\"")) continue;
    const auto event = parse_json(line, {.max_bytes = 1U << 20U, .max_depth = 64});
    if (!event) continue;  // the last line, half written
    const Json& object = member_at(*event, "objectRef");
    const std::string sub = string_at(object, "subresource");
    ++counts[string_at(*event, "verb") + " " + string_at(object, "resource") +
             (sub.empty() ? "" : "/" + sub)];
  }
  return counts;
}

Writer::Writer(const support::ControlPlane& plane, std::string token)
    : url_(plane.url()), token_(std::move(token)), client_(trusting(plane)) {}

void Writer::write(const std::string& method, const std::string& path, const std::string& body) {
  http::ClientRequest request;
  request.method = method;
  request.url = url_ + path;
  request.headers = {
      {"Authorization", "Bearer " + token_},
      {"Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json"}};
  request.body = body;
  const auto answer = client_.send(request);
  if (!answer) throw std::runtime_error(answer.error().message);
  if (answer->status >= 300) throw std::runtime_error(method + " " + path + ": " + answer->body);
}

void for_each_from(std::size_t threads, std::size_t count,
                   const std::function<void(std::size_t thread, std::size_t i)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(thread, i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gpuward::bench
