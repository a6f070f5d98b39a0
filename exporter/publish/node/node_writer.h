// Makes the node say what it should: one PATCH to the node and one to its status a change, none
// where nothing differs. Reads the node each time, so that what somebody else has changed or lost
// comes back. One thread; used by the NodePublisher.
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
  // `api` and `clock` must outlive it. `boot_id`: that of this machine; empty where it is not
  // known.
  NodeWriter(kube::Api& api, Clock& clock, std::string node, std::string boot_id);

  // kGone: the name belongs to another machine's node by now, and nothing was written. The status
  // is tried also where the node's own keys were refused; the first error counts.
  [[nodiscard]] Status write(const NodeWish& wish, const NodeKeys& keys,
                             std::chrono::milliseconds heartbeat, const std::stop_token& stop);
  // The label that says that nobody watches over the node any more; through an Api of the caller's,
  // whose deadlines suit a program that ends. The taint stays. Nothing where nothing was written.
  [[nodiscard]] Status say_stopped(kube::Api& api, const NodeNames& names);

  // Of the node first seen, empty before.
  [[nodiscard]] const std::string& uid() const { return uid_; }
  // As last read.
  [[nodiscard]] const kube::Labels& labels() const { return labels_; }
  // Whether the node bore a taint of the exporter's then, even where it may write none now.
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
