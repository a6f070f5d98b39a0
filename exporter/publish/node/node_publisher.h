// Keeps the exporter's own Node object in step with the store: on a thread of its own, so that an
// API server which is slow, down or says no delays nothing else. Writes at once when what is known
// of the node changes, and looks once a cycle whether the node still says it. Made by the
// composition root where a node name is known.
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
  // Of the condition, as node-problem-detector's.
  std::chrono::milliseconds heartbeat = std::chrono::minutes(5);
  FindingEvents events = {};  // with what was known when the program started
};

// kube::Connection::make_api() or a test's own.
using MakeApi =
    std::function<std::unique_ptr<kube::Api>(kube::ApiDeadlines deadlines, std::stop_token stop)>;

class NodePublisher {
 public:
  // Store, clock and log must outlive it, and whatever `make_api` refers to.
  NodePublisher(NodePublisherOptions options, const MakeApi& make_api, Store& store, Clock& clock,
                Log& log);
  // Says agent-stopped on the node, and leaves taint and condition alone. Takes as long as the API
  // server lets it, at most about five seconds.
  ~NodePublisher();
  NodePublisher(const NodePublisher&) = delete;
  NodePublisher& operator=(const NodePublisher&) = delete;

  // Any thread; after a reload.
  void configure(NodeSettings settings, std::chrono::milliseconds cycle);

 private:
  void run(const std::stop_token& stop);
  // How long until there is something to do without a change; likewise the next.
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
  // Of the thread alone.
  std::optional<NodeWish> published_;
  std::optional<NodeSettings> published_settings_;
  Clock::Steady next_cycle_, not_before_;
  Backoff backoff_;
  std::string complaint_;  // the last that was said
  std::jthread thread_;
};

// What the node's label says about its instance type; kNotFound where there is none. For the
// fallback where the metadata service does not answer. Called by the composition root.
[[nodiscard]] Result<std::string> instance_type_label(kube::Api& api, std::string_view node);

}  // namespace gpuward::exporter
