// The exporter's way to its own Node object: who it is at the API server, the publisher of labels,
// taint and condition, and what the node's labels say about the instance type and about a driver
// upgrade. Made by the composition root where the node has a name; without an API server it says so
// and stays idle.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/kube/connection.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/flags.h"
#include "exporter/config/settings.h"
#include "exporter/publish/node/node_publisher.h"
#include "exporter/store/store.h"
#include "exporter/watch/own_node.h"

namespace gpuward::exporter {

class NodeLink {
 public:
  // Never fails: who cannot reach an API server can still watch GPUs. Health says what is wrong.
  // All references must outlive it.
  NodeLink(const Flags& flags, std::string boot_id, const Settings& settings, FindingEvents events,
           Store& store, Clock& clock, Log& log);

  // Main thread; after a reload.
  void configure(const Settings& settings);
  // Any thread, for 5 s at most. kNotFound where there is no API server, no name or no label.
  [[nodiscard]] Result<std::string> instance_type() const;
  // Any thread. The label that asks for the GPUs; nullopt also without an API server.
  [[nodiscard]] std::optional<std::string> asking_label() const;
  // Any thread. Whether asking_label() has had its first answer, or there is nothing to wait for.
  [[nodiscard]] bool has_answer() const { return !own_node_ || own_node_->has_answer(); }

 private:
  std::string node_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<NodePublisher> publisher_;
  std::unique_ptr<OwnNode> own_node_;
};

// For the runner of the checks: a quarantine or a sweep that has this node now, or that nobody can
// tell. Each call asks the API server anew, for 5 s at most; without a node name nobody can have
// it. What is returned owns what it uses but for the clock.
[[nodiscard]] std::function<std::optional<std::string>()> ask_for_maintenance(const Flags& flags,
                                                                              Clock& clock);

// What the label of this node says, for 5 s at most. kNotFound without a label.
[[nodiscard]] Result<std::string> instance_type_at(kube::Connection& connection,
                                                   const std::string& node);

}  // namespace gpuward::exporter
