#include "remediator/execution/controller.h"

#include <exception>
#include <functional>
#include <utility>

#include "core/kube/informer.h"
#include "remediator/records/remediation_json.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// Conflicts are everyday on a Node and gone at the next read; a dead API server is given time.
constexpr BackoffPolicy kRetry{
    .first = milliseconds(20), .longest = milliseconds(30'000), .factor = 2};
// How soon a replica that leads by now begins to work.
constexpr milliseconds kLeadInterval(100);
constexpr milliseconds kKeepAgain(5'000);
// After an answer that will be the same until somebody changes RBAC or the object.
constexpr milliseconds kPermanentWait{300'000};

}  // namespace

Controller::Controller(ControllerOptions options, ControllerParts parts)
    : options_(options), parts_(std::move(parts)) {
  // The one fence of each thread: an exception is a broken program, and it says so and ends as one.
  const auto start = [this](void (Controller::*run)(const std::stop_token&)) {
    threads_.emplace_back([this, run](const std::stop_token& stop) {
      try {
        (this->*run)(stop);
      } catch (const std::exception& error) {
        parts_.log.error("a thread of the workflow has failed", {{"error", error.what()}});
        std::terminate();
      }
    });
  };
  start(&Controller::follow_nodes);
  start(&Controller::follow_remediations);
  start(&Controller::resync);
  for (std::size_t i = 0; i < options_.workers; ++i) start(&Controller::work);
}

Controller::~Controller() { request_stop(); }

void Controller::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Controller::look_at_all() {
  for (const std::string& node : parts_.view.nodes_with_open()) (void)parts_.queue.add(node);
}

void Controller::work(const std::stop_token& stop) {
  while (const auto node = parts_.queue.take(stop)) {
    if (!parts_.leads()) {  // who leads next looks at all
      parts_.queue.done(*node);
      continue;
    }
    // Nothing is decided on half a view: a node that merely has not been listed yet is not gone.
    if (parts_.view.synced()) {
      reconcile(*node);
    } else {
      (void)parts_.queue.add_after(*node, milliseconds(100));
    }
    parts_.queue.done(*node);
  }
}

void Controller::reconcile(const std::string& node) {
  const auto result = parts_.reconciler.reconcile(node);
  if (result) {
    {
      const std::lock_guard lock(mutex_);
      backoffs_.erase(node);
    }
    if (*result) (void)parts_.queue.add_after(node, **result);
    return;
  }
  const Error& error = result.error();
  if (error.kind != ErrorKind::kConflict) parts_.observer.on_error(node, error);
  (void)parts_.queue.add_after(node, wait_after(node, error.kind));
}

milliseconds Controller::wait_after(const std::string& node, ErrorKind kind) {
  if (kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid) return kPermanentWait;
  const std::lock_guard lock(mutex_);
  return backoffs_.try_emplace(node, kRetry, 0).first->second.next();
}

void Controller::resync(const std::stop_token& stop) {
  bool has_led = false;
  auto due = parts_.clock.steady();
  do {
    const bool leads = parts_.leads();
    const bool is_due = leads && (!has_led || parts_.clock.steady() >= due);
    // A ledger that cannot be read is tried again soon: nothing is taken without it.
    if (is_due) {
      const auto kept = parts_.keep();
      if (!kept) parts_.observer.on_error({}, kept.error());
      if (const auto swept = parts_.sweep(); !swept) parts_.observer.on_error({}, swept.error());
      look_at_all();
      due = parts_.clock.steady() + (kept ? options_.resync_every : kKeepAgain);
    }
    if (leads && (parts_.view.may_have_returned() || is_due)) take_in_returned();
    has_led = leads;
  } while (parts_.clock.sleep_for(kLeadInterval, stop));
}

void Controller::take_in_returned() {
  if (const auto taken = parts_.take_in_returned(); !taken)
    parts_.observer.on_error({}, taken.error());
}

ViewFeed Controller::feed() const {
  return {.view = parts_.view,
          .queue = parts_.queue,
          .policy = parts_.policy,
          .log = parts_.log,
          .clock = parts_.clock,
          .on_went_back = parts_.on_went_back,
          .on_error = [this](const Error& error) { parts_.observer.on_error({}, error); }};
}

void Controller::follow_nodes(const std::stop_token& stop) {
  kube::Informer(parts_.api, parts_.clock, "/api/v1/nodes", node_handlers(feed())).run(stop);
}

void Controller::follow_remediations(const std::stop_token& stop) {
  kube::Informer(parts_.api, parts_.clock, remediation_collection(), remediation_handlers(feed()))
      .run(stop);
}

}  // namespace gpuward::remediator
