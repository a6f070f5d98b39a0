// Brings the Node into the wanted state: one PATCH to the node and one to its status for each
// change, none if nothing differs. Reads the node each time, so that it restores keys that others
// have changed or removed. One thread; used by the NodePublisher.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

class NodeWriter {
 public:
  // `api` and `clock` must outlive it. `boot_id`: that of this machine; empty if unknown.
  NodeWriter(kube::Api& api, Clock& clock, std::string node, std::string boot_id);

  // kGone: the name now belongs to another machine's node, and nothing was written. If the node's
  // own keys were refused, the status is still tried; the first error counts.
  [[nodiscard]] Status write(const NodeWish& wish, const NodeKeys& keys,
                             std::chrono::milliseconds heartbeat, const std::stop_token& stop);
  // Sets the label that says that no exporter watches the node any more, through an Api of the
  // caller with deadlines for a program that ends. The taint stays. Does nothing if nothing was
  // ever written.
  [[nodiscard]] Status say_stopped(kube::Api& api, const NodeNames& names);

  // The UID of the node first seen, empty before.
  [[nodiscard]] const std::string& uid() const { return uid_; }
  // The labels as last read.
  [[nodiscard]] const kube::Labels& labels() const { return labels_; }
  // Whether the node had a taint of the exporter then, even if it may no longer write one.
  [[nodiscard]] bool is_tainted() const { return is_tainted_; }

 private:
  [[nodiscard]] Result<kube::Node> write_keys(const NodeWish& wish, const NodeKeys& keys,
                                              const std::stop_token& stop);
  [[nodiscard]] bool pin_anew();

  kube::Api& api_;
  Clock& clock_;
  std::string node_, boot_id_;
  std::string uid_;  // of the node first seen; empty before
  kube::Labels labels_;
  bool is_tainted_ = false;
};

}  // namespace gpuward::exporter
