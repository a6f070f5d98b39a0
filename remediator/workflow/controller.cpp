#include "remediator/workflow/controller.h"

#include <exception>
#include <functional>
#include <utility>

#include "core/kube/informer.h"
#include "core/kube/parse.h"
#include "remediator/workflow/remediation_json.h"

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

std::optional<FleetNode> census_of(const kube::Node& node, const BudgetLimits& budgets) {
  if (!is_gpu_node(node)) return std::nullopt;
  return fleet_node(node, place_keys(budgets));
}

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

void Controller::follow_nodes(const std::stop_token& stop) {
  kube::InformerHandlers handlers;
  const auto wake = [this](const std::string& name) {
    if (!parts_.view.open_for(name).empty()) (void)parts_.queue.add(name);
  };
  handlers.on_upsert = [this, wake](const Json& object) {
    auto node = kube::read_node(object);
    if (!node) {
      parts_.log.error("a node could not be read", {{"error", node.error().message}});
      return;
    }
    const std::string name = node->meta.name;
    // Who has made it has looked already, and says itself when it wants to look again.
    const bool is_own = parts_.view.is_own_change(name, node->meta.resource_version);
    auto census = census_of(*node, parts_.policy.get()->budgets);
    parts_.view.put_node(std::move(*node), std::move(census));
    if (!is_own) wake(name);
  };
  handlers.on_delete = [this, wake](const std::string& name) {
    parts_.view.remove_node(name);
    wake(name);
  };
  handlers.on_synced = [this] { parts_.view.set_nodes_synced(); };
  handlers.on_heard = [this] { parts_.view.note_nodes_heard(parts_.clock.steady()); };
  const auto on_error = [this](const Error& error) { parts_.observer.on_error({}, error); };
  kube::run_informer(parts_.api, parts_.clock, "/api/v1/nodes", handlers, on_error, stop);
}

void Controller::follow_remediations(const std::stop_token& stop) {
  kube::InformerHandlers handlers;
  handlers.on_upsert = [this](const Json& object) {
    auto remediation = read_remediation(object);
    if (!remediation) {
      parts_.log.error("a remediation could not be read", {{"error", remediation.error().message}});
      return;
    }
    // What this process wrote itself it knows already.
    if (parts_.view.has(remediation->name, remediation->resource_version)) return;
    const std::string node = remediation->node;
    const bool wants_us = remediation->wants_us();
    parts_.view.put_remediation(std::move(*remediation));
    if (wants_us) (void)parts_.queue.add(node);
  };
  handlers.on_delete = [this](const std::string& name) { parts_.view.remove_remediation(name); };
  handlers.on_synced = [this] { parts_.view.set_remediations_synced(); };
  handlers.on_heard = [this] { parts_.view.note_remediations_heard(parts_.clock.steady()); };
  const auto on_error = [this](const Error& error) { parts_.observer.on_error({}, error); };
  kube::run_informer(parts_.api, parts_.clock, remediation_collection(), handlers, on_error, stop);
}

}  // namespace gpuward::remediator
