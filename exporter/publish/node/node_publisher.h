// Keeps the exporter's own Node object in step with the store, on its own thread, so that an API
// server that is slow, down or refuses delays nothing else. Writes at once when the node's state
// changes, and checks once a cycle whether the Node still has it. Made by the composition root if
// the node's name is known.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/kube/connection.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/publish/node/node_events.h"
#include "exporter/publish/node/node_settings.h"
#include "exporter/publish/node/node_writer.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

struct NodePublisherOptions {
  std::string node;     // NODE_NAME
  std::string boot_id;  // of this machine
  NodeSettings settings;
  std::chrono::milliseconds cycle = std::chrono::seconds(300);  // CHECK_INTERVAL
  // The heartbeat of the condition, as in node-problem-detector.
  std::chrono::milliseconds heartbeat = std::chrono::minutes(5);
  FindingEvents events = {};  // with the findings known when the program started
};

// kube::Connection::make_api(), or that of a test.
using MakeApi =
    std::function<std::unique_ptr<kube::Api>(kube::ApiDeadlines deadlines, std::stop_token stop)>;

class NodePublisher {
 public:
  // Store, clock, log and everything that `make_api` refers to must outlive it.
  NodePublisher(NodePublisherOptions options, const MakeApi& make_api, Store& store, Clock& clock,
                Log& log);
  // Writes agent-stopped to the node, and leaves taint and condition alone. May wait for the API
  // server, about five seconds at most.
  ~NodePublisher();
  NodePublisher(const NodePublisher&) = delete;
  NodePublisher& operator=(const NodePublisher&) = delete;

  // Any thread; called after a reload.
  void configure(NodeSettings settings, std::chrono::milliseconds cycle);

 private:
  void run(const std::stop_token& stop);
  // Both return how long until there is work without a change of the store.
  [[nodiscard]] std::chrono::milliseconds publish_if_due(const Snapshot& snapshot,
                                                         const std::stop_token& stop);
  [[nodiscard]] std::chrono::milliseconds tell_findings(const Snapshot& snapshot);
  [[nodiscard]] std::chrono::milliseconds until(Clock::Steady time) const;
  void announce(const NodeWish& wish);
  void record(const Status& status);
  void complain(const Error& error);

  struct Plan {
    NodeKeys keys;
    NodeSettings settings;
    std::chrono::milliseconds cycle;
  };
  [[nodiscard]] Plan plan() const;

  const NodePublisherOptions options_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  mutable std::mutex mutex_;
  NodeSettings settings_;
  std::chrono::milliseconds cycle_;
  std::stop_source stopping_;  // ends the Api's waits between tries
  std::unique_ptr<kube::Api> api_, brief_api_;
  NodeWriter writer_;
  NodeEvents events_;
  // Used only by the thread.
  std::optional<NodeWish> published_;
  std::optional<NodeSettings> published_settings_;
  Clock::Steady next_cycle_, not_before_;
  Backoff backoff_;
  std::string complaint_;  // the last one logged
  std::jthread thread_;
};

// Returns the instance type in the node's label; kNotFound if there is none. A fallback for a
// metadata service that does not answer. Called by the composition root.
[[nodiscard]] Result<std::string> instance_type_label(kube::Api& api, std::string_view node);

}  // namespace gpuward::exporter
