#include "remediator/act/drain/evictor.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMostWaiting = 20'000;
// The drainer confirms a waiting removal within this time; the API server may have requested a
// pause of an hour.
constexpr seconds kWantedFor{180};
constexpr milliseconds kUnaskedPause = seconds(1);  // for a 429 that requests no pause

// The fence of its thread: any exception of the permit counts as a refusal.
Status send_removal(kube::Api& api, const Removal& removal, const Permit& permit) try {
  if (removal.pod.uid.empty())
    return fail(ErrorKind::kInvalid, "not sent: the pod has no UID to use as a precondition");
  if (const Status may = permit(); !may) return fail(ErrorKind::kCancelled, may.error().message);
  return removal.way == RemovalWay::kEvict ? api.evict(removal.pod) : api.delete_pod(removal.pod);
} catch (const std::exception& error) {
  return fail(ErrorKind::kInternal, error.what());
}

}  // namespace

Evictor::Evictor(kube::Api& api, Clock& clock, const EvictionRate& rate, Sending sending)
    : api_(api),
      clock_(clock),
      sending_(sending),
      rate_(rate),
      bucket_(rate.per_second, rate.burst, clock.steady()) {}

Evictor::~Evictor() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Evictor::set_rate(const EvictionRate& rate) {
  const std::lock_guard lock(mutex_);
  rate_ = rate;
  bucket_.set_rate(rate.per_second, rate.burst, clock_.steady());
  changed_.notify_all();
}

bool Evictor::submit(const std::string& node, const Removal& removal, const Permit& permit) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting || !unanswered_.add(node, removal.pod.uid)) return false;
    outcomes_.try_emplace(node);
    waiting_.push_back({node, removal, permit, clock_.steady()});
    const auto busy = static_cast<std::size_t>(under_way_) + waiting_.size();
    const bool needs_thread = sending_ == Sending::kByThreads && threads_.size() < busy &&
                              threads_.size() < static_cast<std::size_t>(rate_.most_in_flight);
    if (needs_thread) threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  changed_.notify_one();
  send_what_is_due();
  return true;
}

std::vector<Evictor::Outcome> Evictor::collect(const std::string& node) {
  send_what_is_due();
  const std::lock_guard lock(mutex_);
  const auto known = outcomes_.find(node);
  return known == outcomes_.end() ? std::vector<Outcome>() : std::exchange(known->second, {});
}

bool Evictor::has_unanswered(const std::string& node) {
  const std::lock_guard lock(mutex_);
  return unanswered_.by_node.contains(node);
}

std::vector<std::string> Evictor::withdraw(const std::string& node,
                                           const std::function<bool(const Removal&)>& is_wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> dropped;
  if (!unanswered_.by_node.contains(node)) return dropped;
  const auto now = clock_.steady();
  for (QueuedRemoval& queued : waiting_) {
    if (queued.node == node) queued.wanted_at = now;
  }
  std::erase_if(waiting_, [&](const QueuedRemoval& queued) {
    if (queued.node != node || is_wanted(queued.removal)) return false;
    unanswered_.settle(queued);
    dropped.push_back(queued.removal.pod.uid);
    return true;
  });
  return dropped;
}

void Evictor::forget(const std::string& node) {
  const std::lock_guard lock(mutex_);
  outcomes_.erase(node);
  drop_waiting(node, {});
}

void Evictor::work(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "evictor");
  while (const auto queued = next(stop)) deliver(*queued);
}

std::optional<Evictor::QueuedRemoval> Evictor::next(const std::stop_token& stop) {
  Lock lock(mutex_);
  const auto has_work = [this] {
    return !waiting_.empty() && !is_pacing_ && under_way_ < rate_.most_in_flight;
  };
  while (changed_.wait(lock, stop, has_work)) {
    if (stop.stop_requested()) break;
    Clock::Steady until;
    if (auto queued = take_due(until)) return queued;
    is_pacing_ = true;
    lock.unlock();
    static_cast<void>(clock_.sleep_until(until, stop));
    lock.lock();
    is_pacing_ = false;
    changed_.notify_all();
  }
  return std::nullopt;
}

std::optional<Evictor::QueuedRemoval> Evictor::take_due(Clock::Steady& until) {
  const Clock::Steady now = clock_.steady();
  until = std::max(paused_until_, bucket_.ready_at(now));
  if (until > now || waiting_.empty()) return std::nullopt;
  bucket_.take(now);
  QueuedRemoval queued = std::move(waiting_.front());
  waiting_.pop_front();
  ++under_way_;
  return queued;
}

void Evictor::send_what_is_due() {
  if (sending_ != Sending::kInCalls) return;
  const auto next_due = [this] {
    const std::lock_guard lock(mutex_);
    Clock::Steady until;
    return take_due(until);
  };
  while (const auto queued = next_due()) deliver(*queued);
}

void Evictor::deliver(const QueuedRemoval& queued) {
  const bool is_old = clock_.steady() - queued.wanted_at > kWantedFor;
  const Status sent =
      is_old ? fail(ErrorKind::kCancelled, "the request waited too long; gpuward decides again")
             : send_removal(api_, queued.removal, queued.permit);
  const bool is_last = note_answer(queued, sent);
  if (is_last && on_answered_) on_answered_(queued.node);
}

// Returns whether it was the last answer that the node waited for.
bool Evictor::note_answer(const QueuedRemoval& queued, const Status& status) {
  const std::lock_guard lock(mutex_);
  --under_way_;
  unanswered_.settle(queued);
  const RemovalAnswer answer = answer_of(status);
  if (answer == RemovalAnswer::kOverloaded) {
    const milliseconds pause = std::max(kUnaskedPause, status.error().retry_after);
    paused_until_ = std::max(paused_until_, clock_.steady() + pause);
  }
  if (const auto known = outcomes_.find(queued.node); known != outcomes_.end())
    known->second.push_back({queued.removal.pod.uid, status});
  // If the permit refuses one removal, it refuses all that wait for the node.
  if (answer == RemovalAnswer::kStopped) drop_waiting(queued.node, status);
  changed_.notify_one();
  return !unanswered_.by_node.contains(queued.node);
}

bool Evictor::Unanswered::add(const std::string& node, const std::string& uid) {
  if (!uids.insert(uid).second) return false;
  ++by_node[node];
  return true;
}

void Evictor::Unanswered::settle(const QueuedRemoval& queued) {
  uids.erase(queued.removal.pod.uid);
  const auto asked = by_node.find(queued.node);
  if (--asked->second == 0) by_node.erase(asked);
}

void Evictor::drop_waiting(const std::string& node, const Status& status) {
  const auto known = outcomes_.find(node);
  std::erase_if(waiting_, [&](const QueuedRemoval& queued) {
    if (queued.node != node) return false;
    unanswered_.settle(queued);
    if (known != outcomes_.end()) known->second.push_back({queued.removal.pod.uid, status});
    return true;
  });
}

}  // namespace gpuward::remediator
