// The exporter's connection to its own Node object: its identity at the API server, the publisher
// of labels, taint and condition, and the labels that give the instance type or announce a driver
// upgrade. Made by the composition root if the node has a name. Without an API server it logs that
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
  // Never fails, because an exporter without an API server can still watch GPUs; Health has the
  // fault. All references must outlive it.
  NodeLink(const Flags& flags, std::string boot_id, const Settings& settings, FindingEvents events,
           Store& store, Clock& clock, Log& log);

  // Main thread; called after a reload.
  void configure(const Settings& settings);
  // Any thread, for 5 s at most. kNotFound if there is no API server, no name or no label.
  [[nodiscard]] Result<std::string> instance_type() const;
  // Thread-safe. Returns the label that asks for the GPUs; nullopt also without an API server.
  [[nodiscard]] std::optional<std::string> asking_label() const;
  // Thread-safe. Returns whether asking_label() has had its first answer, or needs none.
  [[nodiscard]] bool has_answer() const { return !own_node_ || own_node_->has_answer(); }

 private:
  std::string node_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<NodePublisher> publisher_;
  std::unique_ptr<OwnNode> own_node_;
};

// Returns a function for the check runner: it returns the quarantine or sweep that has this node
// now, or that this is unknown. Each call asks the API server, for 5 s at most; without a node name
// it returns nullopt. The function owns all that it uses except the clock.
[[nodiscard]] std::function<std::optional<std::string>()> ask_for_maintenance(const Flags& flags,
                                                                              Clock& clock);

// Returns the instance type in this node's label, within 5 s. kNotFound without a label.
[[nodiscard]] Result<std::string> instance_type_at(kube::Connection& connection,
                                                   const std::string& node);

}  // namespace gpuward::exporter
