// The two informers of a replica, the product's own, each with its own connection. In the product
// each has a thread; here they take turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <utility>

#include "core/kube/informer.h"
#include "remediator/cluster/view_feed.h"
#include "tests/simulation/look.h"
#include "tests/simulation/watch_wire.h"

namespace gpuward::remediator::simulation {

// A clock that leaves out the times, perhaps hours, in which watches sent only bookmarks.
class InformerClock final : public Clock {
 public:
  explicit InformerClock(Stage& stage) : stage_(stage) {}
  [[nodiscard]] Wall wall() const override { return stage_.clock.wall(); }
  [[nodiscard]] Steady steady() const override { return stage_.clock.steady() - stage_.watched; }
  bool sleep_until(Steady deadline, std::stop_token stop) override {
    return stage_.clock.sleep_until(deadline + stage_.watched, std::move(stop));
  }

 private:
  Stage& stage_;
};

class Informers {
 public:
  Informers(Stage& stage, kube::Credentials& credentials, const ViewFeed& feed);

  // The server sends the next `count` changes; in some simulations only those of one kind.
  void hear(std::size_t count);
  // Does what the threads have due now: a watch without changes ends, and the next one begins.
  void go_on();
  // The process receives nothing until then.
  void die_until(Clock::Steady end);
  // The earlier of the versions up to which the informers have received all changes.
  [[nodiscard]] Version heard() const {
    return std::min(nodes_.wire.told(), remediations_.wire.told());
  }
  // Notes in the look the versions that they have received, and when.
  void note(Look& look) const;

 private:
  struct Line {
    Line(Stage& stage, kube::Credentials& credentials, Resource kind, const ViewFeed& feed);
    WatchWire wire;
    kube::Api api;
    InformerClock clock;
    kube::Informer informer;
    Clock::Steady due;
  };
  void take_turns(Line& line);

  Stage& stage_;
  Line nodes_, remediations_;
};

}  // namespace gpuward::remediator::simulation
