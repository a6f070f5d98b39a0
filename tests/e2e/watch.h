// The visible states of a fault on its path, read from the interface of each part. Every method
// sends one or two requests. If a part does not answer, the result is empty, since the caller
// polls.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/cluster.h"

namespace gpuward::e2e {

class Stack;

struct NodeView {
  std::string resource_version;
  bool cordoned = false;
  std::string taint;  // gpuward.dev/remediation as `value:effect`, empty if there is none
  std::string annotation;
  std::vector<std::string> other_taints;  // keys
};

struct RemediationView {
  std::string name, resource_version, severity, phase;
};

// Made for each poll; the Stack and the cluster outlive it.
class Watch {
 public:
  Watch(const Stack& stack, const Cluster& cluster) : stack_(stack), cluster_(cluster) {}

  // Whether the exporter's page has this line.
  [[nodiscard]] bool exporter_serves(const std::string& node, const std::string& line) const;
  // "", "pending" or "firing", as Prometheus reports it.
  [[nodiscard]] std::string alert_state(const std::string& alertname,
                                        const std::string& node) const;
  // State by alertname, of all alerts that name the node.
  [[nodiscard]] std::map<std::string, std::string> alerts_of(const std::string& node) const;
  // The value of a PromQL expression that gives one sample.
  [[nodiscard]] std::optional<double> query(const std::string& expression) const;
  [[nodiscard]] std::size_t scraped_exporters() const;
  [[nodiscard]] std::size_t known_alertmanagers() const;
  [[nodiscard]] std::optional<NodeView> node(const std::string& name) const;
  [[nodiscard]] std::vector<RemediationView> remediations_of(const std::string& node) const;
  // Reasons of the Events about the node.
  [[nodiscard]] std::vector<std::string> events_about(const std::string& node) const;

 private:
  const Stack& stack_;
  const Cluster& cluster_;
};

}  // namespace gpuward::e2e
