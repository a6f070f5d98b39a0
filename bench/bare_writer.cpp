#include "bench/bare_writer.h"

#include <chrono>
#include <deque>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::bench {
namespace {

constexpr const char* kNodes = "/api/v1/nodes/";
constexpr const char* kRemediations = "/apis/gpuward.dev/v1alpha1/remediations";

std::deque<Writer> writers(const FleetCluster& cluster, std::size_t threads) {
  std::deque<Writer> made;
  for (std::size_t i = 0; i < threads; ++i) {
    made.emplace_back(cluster.plane(), kBareToken);
    made.back().write("GET", "/api/v1/namespaces/default", "");  // opens the connection
  }
  return made;
}

template <typename Work>
double seconds_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string mark_of(std::size_t node) {
  return dump_json(
      {{"metadata", {{"annotations", {{kBareTaint, "remediation of " + node_name(node)}}}}},
       {"spec",
        {{"unschedulable", true},
         {"taints",
          Json::array({{{"key", kBareTaint}, {"value", "reboot"}, {"effect", "NoSchedule"}}})}}}});
}

std::string bare_name(std::size_t node) { return "bare-" + node_name(node); }

std::string remediation_of(std::size_t node) {
  const std::string now = to_rfc3339_ms(lasting_clock().wall());
  const Json alert = {{"alertname", "Bad"},
                      {"fingerprint", "ab12"},
                      {"severity", "reboot"},
                      {"startsAt", now},
                      {"firstReceived", now}};
  return dump_json({{"apiVersion", "gpuward.dev/v1alpha1"},
                    {"kind", "Remediation"},
                    {"metadata", {{"name", bare_name(node)}}},
                    {"spec",
                     {{"nodeName", node_name(node)},
                      {"nodeUID", node_uid(node)},
                      {"severity", "reboot"},
                      {"alerts", Json::array({alert})}}}});
}

std::string status_of(const std::string& result) {
  const std::string now = to_rfc3339_ms(lasting_clock().wall());
  Json steps = Json::array();
  for (const char* step : {"taint", "cordon"})
    steps.push_back({{"name", step}, {"result", result}, {"intentAt", now}, {"attempts", 1}});
  return dump_json({{"status",
                     {{"phase", "Quarantined"},
                      {"rule", "severities.reboot"},
                      {"message", "severity reboot: taint, cordon"},
                      {"reasons", Json::array({"alert Bad fires, severity reboot"})},
                      {"steps", std::move(steps)}}}});
}

std::string event_about(std::size_t node) {
  return dump_json(
      {{"apiVersion", "v1"},
       {"kind", "Event"},
       {"metadata", {{"generateName", "bare."}, {"namespace", "default"}}},
       {"involvedObject", {{"kind", "Node"}, {"name", node_name(node)}, {"uid", node_uid(node)}}},
       {"reason", "BareWriter"},
       {"message", "severity reboot: taint, cordon"},
       {"type", "Warning"}});
}

void write_remediation(Writer& writer, std::size_t node) {
  const std::string status = std::string(kRemediations) + "/" + bare_name(node) + "/status";
  writer.write("POST", kRemediations, remediation_of(node));
  writer.write("PATCH", status, status_of("intended"));
  writer.write("PATCH", kNodes + node_name(node), mark_of(node));
  writer.write("PATCH", status, status_of("done"));
  writer.write("POST", "/api/v1/namespaces/default/events", event_about(node));
}

}  // namespace

double patch_nodes(const FleetCluster& cluster, std::size_t nodes, std::size_t threads) {
  auto all = writers(cluster, threads);
  return seconds_of([&] {
    for_each_from(threads, nodes, [&](std::size_t thread, std::size_t node) {
      all[thread].write("PATCH", kNodes + node_name(node), mark_of(node));
    });
  });
}

double write_remediations(const FleetCluster& cluster, std::size_t nodes, std::size_t threads) {
  auto all = writers(cluster, threads);
  return seconds_of([&] {
    for_each_from(threads, nodes, [&](std::size_t thread, std::size_t node) {
      write_remediation(all[thread], node);
    });
  });
}

void undo_bare_writes(const FleetCluster& cluster, std::size_t nodes, std::size_t threads) {
  auto all = writers(cluster, threads);
  const std::string unmark =
      dump_json({{"metadata", {{"annotations", {{kBareTaint, nullptr}}}}},
                 {"spec", {{"unschedulable", nullptr}, {"taints", nullptr}}}});
  for_each_from(threads, nodes, [&](std::size_t thread, std::size_t node) {
    all[thread].write("PATCH", kNodes + node_name(node), unmark);
  });
  all.front().write("DELETE", kRemediations, "{}");
}

void evict_pods(const FleetCluster& cluster, std::size_t first, std::size_t nodes, std::size_t each,
                const std::string& prefix, std::size_t threads) {
  auto all = writers(cluster, threads);
  for_each_from(threads, nodes * each, [&](std::size_t thread, std::size_t i) {
    const std::string name = pod_name(prefix, first + i / each, i % each);
    all[thread].write(
        "POST", "/api/v1/namespaces/default/pods/" + name + "/eviction",
        dump_json({{"apiVersion", "policy/v1"},
                   {"kind", "Eviction"},
                   {"metadata", {{"name", name}, {"namespace", "default"}}},
                   {"deleteOptions", {{"preconditions", {{"uid", "uid-of-" + name}}}}}}));
  });
}

}  // namespace gpuward::bench
