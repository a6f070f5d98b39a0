// Events on the Node when findings come and go, for `kubectl describe node` and `kubectl get
// events`: best effort, and brief, so that an Events API which fails holds up nothing else. One
// thread: the NodePublisher's.
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

  // Tells what has not been told of the node with that UID, and returns how long until there may be
  // more without a change of the store; `longest` at most. What was refused is told a minute later.
  [[nodiscard]] std::chrono::milliseconds tell(const Snapshot& snapshot, const std::string& uid,
                                               std::chrono::milliseconds longest);
  // What is there counts as told: Events are off.
  void forget(const Snapshot& snapshot) { events_ = FindingEvents(snapshot); }

 private:
  kube::Api& api_;
  std::string node_;
  FindingEvents events_;
  Clock& clock_;
  Log& log_;
  Clock::Steady not_before_ = Clock::Steady::min();
  std::string complaint_;  // the last that was said
};

}  // namespace gpuward::exporter
