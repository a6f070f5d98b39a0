#include "remediator/gates/stop_switch.h"

#include <utility>

namespace gpuward::remediator {

StopSwitch::StopSwitch(kube::Api& api, SwitchPlace place) : api_(api), place_(std::move(place)) {}

Status StopSwitch::permit() {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = begun_ + 1;  // has not begun yet; a later one is as good
  read_ended_.wait(lock, [&] { return ended_ >= wanted || begun_ == ended_; });
  if (ended_ >= wanted) return answer_;
  ++begun_;
  lock.unlock();
  Status answer = permission_of(place_, api_.get_config_map(place_.ns, place_.config_map));
  lock.lock();
  answer_ = answer;
  ended_ = begun_;
  lock.unlock();
  read_ended_.notify_all();
  return answer;
}

}  // namespace gpuward::remediator
