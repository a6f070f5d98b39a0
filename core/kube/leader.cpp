#include "core/kube/leader.h"

#include <utility>

namespace gpuward::kube {

LeaderElection::LeaderElection(LeaderOptions options, Api& api, Clock& clock,
                               LeaderHandlers handlers)
    : clock_(clock),
      handlers_(std::move(handlers)),
      candidate_(std::move(options), api, clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

LeaderElection::~LeaderElection() { release(); }

void LeaderElection::release() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  tell(candidate_.give_back());
  tell_changes();
}

void LeaderElection::run(const std::stop_token& stop) {
  do {
    tell_changes();  // the process may have been paused for longer than its lease
    tell(candidate_.try_to_lead());
    tell_changes();
  } while (clock_.sleep_for(candidate_.pause(), stop));
}

void LeaderElection::tell_changes() {
  const bool leads = candidate_.is_leader();
  if (std::exchange(told_, leads) == leads || !handlers_.on_change) return;
  handlers_.on_change({.leads = leads, .holder = candidate_.holder()});
}

void LeaderElection::tell(const Status& status) {
  if (!status && handlers_.on_error) handlers_.on_error(status.error());
}

}  // namespace gpuward::kube
