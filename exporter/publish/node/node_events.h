// Events on the Node when findings come and go, for `kubectl describe node` and `kubectl get
// events`. Best effort, with short deadlines, so that a broken Events API delays nothing else. Used
// only on the NodePublisher's thread.
#pragma once

#include <memory>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/publish/node/finding_events.h"

namespace gpuward::exporter {

class NodeEvents {
 public:
  // `api` with short deadlines; all references must outlive it.
  NodeEvents(kube::Api& api, std::string node, FindingEvents events, Clock& clock, Log& log)
      : api_(api), node_(std::move(node)), events_(std::move(events)), clock_(clock), log_(log) {}

  // Writes the missing Events for the node with that UID, and returns how long until there may be
  // more without a change of the store; at most `longest`. A rejected Event is retried a minute
  // later.
  [[nodiscard]] std::chrono::milliseconds tell(const Snapshot& snapshot, const std::string& uid,
                                               std::chrono::milliseconds longest);
  // Events are off: treats the current findings as reported.
  void forget(const Snapshot& snapshot) { events_ = FindingEvents(snapshot); }

 private:
  kube::Api& api_;
  std::string node_;
  FindingEvents events_;
  Clock& clock_;
  Log& log_;
  Clock::Steady not_before_ = Clock::Steady::min();
  std::string complaint_;  // the last one logged
};

}  // namespace gpuward::exporter
