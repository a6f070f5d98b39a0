#include "remediator/act/controller.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "core/kube/informer.h"
#include "remediator/act/left_operands.h"
#include "remediator/act/out_of_service_taints.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// Interval at which a replica checks whether it leads, so that a new leader starts quickly.
constexpr milliseconds kLeadInterval(100);
constexpr milliseconds kKeepAgain(5'000);
// How soon gpuward retries to resume jobs after a failure.
constexpr milliseconds kGiveBackAgain{10'000};
// Delay after an action before gpuward checks the node's report.
constexpr milliseconds kWeighAfter{5'000};

// How long `opened` waits for the class of its error. A dead sink may keep the notice for hours,
// and a running step must not wait for Prometheus at each check.
constexpr std::chrono::seconds kClassWait{30};

bool is_class_awaited(const RemediationStatus& status, WallTime now) {
  return std::ranges::any_of(status.notices, [&](const Notice& notice) {
    return notice.moment == Moment::kOpened && now - notice.at < kClassWait;
  });
}

}  // namespace

Controller::Controller(ControllerOptions options, ControllerParts parts)
    : options_(options), parts_(std::move(parts)), retries_(parts_.clock) {
  // Logs an exception of a thread and terminates the process. An exception is a bug, and no other
  // place catches it.
  const auto start = [this](void (Controller::*run)(const std::stop_token&)) {
    threads_.emplace_back([this, run](const std::stop_token& stop) {
      try {
        (this->*run)(stop);
      } catch (const std::exception& error) {
        parts_.log.error("Reconciler thread failed", {{"error", error.what()}});
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

void Controller::take_policy() {
  parts_.view.set_places(place_keys(parts_.policy.get()->budgets));
  look_at_all();
}

void Controller::look_at_all() {
  retries_.allow_all();
  for (const std::string& node : nodes_with_open(parts_.view)) (void)parts_.queue.add(node);
}

void Controller::work(const std::stop_token& stop) {
  while (const auto node = parts_.queue.take(stop)) {
    if (!parts_.leads()) {  // The next leader checks all nodes.
      parts_.queue.done(*node);
      continue;
    }
    // No decision is made on an incomplete view, because a node that is not listed yet is not gone.
    if (parts_.view.informers().synced()) {
      reconcile(*node);
    } else {
      (void)parts_.queue.add_after(*node, milliseconds(100));
    }
    parts_.queue.done(*node);
  }
}

void Controller::reconcile(const std::string& node) {
  const NodeLook look = parts_.reconciler.reconcile(node, &retries_);
  for (const Error& error : look.errors) {
    if (error.kind != ErrorKind::kConflict) parts_.observer.on_error(node, error);
  }
  if (look.look_again) (void)parts_.queue.add_after(node, *look.look_again);
}

void Controller::resync(const std::stop_token& stop) {
  bool has_led = false;
  auto due = parts_.clock.steady();
  do {
    const bool leads = parts_.leads();
    if (leads && !has_led) parts_.reconciler.begin_to_lead();
    const bool is_due = leads && (!has_led || parts_.clock.steady() >= due);
    // Retries soon if the ledger cannot be read, because no step runs without it.
    if (is_due) {
      const auto kept = parts_.keep();
      if (!kept) parts_.observer.on_error({}, kept.error());
      if (const auto taken = parts_.reconciler.take_off_out_of_service(); !taken)
        parts_.observer.on_error({}, taken.error());
      if (const auto resumed = parts_.reconciler.resume_left_operands(); !resumed)
        parts_.observer.on_error({}, resumed.error());
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

Status Reconciler::take_off_out_of_service() {
  return remediator::take_off_out_of_service(parts_.api, parts_.view, parts_.permit);
}

Status Reconciler::resume_left_operands() {
  return remediator::resume_left_operands(parts_, left_operands_);
}

NodeLook Reconciler::reconcile(const std::string& node, RetryTimes* retries) {
  NodeLook all;
  const auto note_due = [&all](milliseconds due) {
    all.look_again = std::min(all.look_again.value_or(due), due);
  };
  const auto policy = parts_.policy.get();
  const std::vector<std::string> open = open_for(parts_.view, node);
  if (retries != nullptr) retries->forget_all_but(node, open);
  for (const std::string& name : open) {
    KnownVersions seen = versions_known(parts_.view, name, node);
    if (const auto wait = retries == nullptr ? std::nullopt : retries->wait_of(node, name, seen)) {
      note_due(*wait);
      continue;
    }
    const auto look_again = reconcile_one(name, policy);
    if (look_again) {
      if (retries != nullptr) retries->forget(node, name);
      if (*look_again) note_due(**look_again);
      continue;
    }
    reader_.distrust(name);
    all.errors.push_back(with_context("remediation " + name, look_again.error()).error());
    if (retries != nullptr)
      note_due(retries->note_failure(node, name, std::move(seen), all.errors.back().kind));
  }
  return all;
}

LookAgain Reconciler::reconcile_one(const std::string& name,
                                    const std::shared_ptr<const Policy>& policy) {
  if (!reader_.is_distrusted(name) && pending_.waits_for_taints(name)) return kStormInterval;
  if (auto cached = reader_.recall(name, policy); cached && decider_.decide_cached(*cached))
    return go_on(*cached);
  auto fresh = reader_.read(name, policy);
  if (!fresh) return std::unexpected(fresh.error());
  if (!*fresh || !(**fresh)->remediation.open()) forget(name);
  if (!*fresh) return std::nullopt;
  if (!(**fresh)->remediation.open()) return finish_closed(***fresh);
  decider_.decide_fresh(**fresh);
  return go_on(**fresh);
}

// Carries out the decision for a cached or a fresh case; the type says what is allowed.
template <typename AnyCase>
LookAgain Reconciler::go_on(AnyCase& decided) {
  Case& now = case_in(decided);
  if (auto counted = decider_.count_arrival(now); !counted) return std::unexpected(counted.error());
  const std::string seen = now.remediation.resource_version;
  if (auto status = carry_out(decided); !status) return std::unexpected(status.error());
  return notify(now, seen);
}

Status Reconciler::carry_out(Case& now) {
  switch (now.decision.verdict) {
    case Verdict::kQuarantine:
      return taint_and_cordon_.put_on(now);
    case Verdict::kWatch:
      return steps_.watch(now);
    case Verdict::kBegin:
    case Verdict::kRelease:
      return fail(ErrorKind::kInternal,
                  "no step begins and no node returns until a newer read succeeds");
    default:
      if (auto status = give_back_jobs(now); !status) return status;
      return records_.write_decision(now);
  }
}

// Resumes suspended jobs if gpuward no longer watches the step that suspended them. The Remediation
// closes only after the jobs are resumed. Any other decision is written in any case.
Status Reconciler::give_back_jobs(Case& now) {
  const auto given_back = steps_.give_back_jobs(now);
  if (given_back || now.decision.verdict == Verdict::kClose) return given_back;
  parts_.observer.on_error(now.remediation.node, given_back.error());
  now.decision.look_again =
      std::min(now.decision.look_again.value_or(kGiveBackAgain), kGiveBackAgain);
  return {};
}

Status Reconciler::carry_out(FreshCase& now) {
  const auto has_failed = steps_.record_left_failures(now);
  if (!has_failed) return std::unexpected(has_failed.error());
  if (*has_failed) return {};  // The decision is made again.
  if (now->decision.verdict == Verdict::kBegin) return steps_.begin(now);
  if (now->decision.verdict == Verdict::kRelease) return taint_and_cordon_.take_off(now);
  if (now->decision.verdict == Verdict::kClose) {
    if (auto status = steps_.abandon_jobs(now); !status) return status;
  }
  return carry_out(*now);
}

// `seen`: the version on which the decision was made.
LookAgain Reconciler::notify(Case& now, const std::string& seen) {
  if (!now.remediation.open()) {
    forget(now.remediation.name);
    // After a crash at this point, the upkeep of the ledger releases the slots later.
    if (auto status = parts_.slots.give_back(now.remediation); !status)
      parts_.observer.on_error(now.remediation.node, status.error());
    return finish_closed(now);
  }
  if (auto status = records_.notify_operator(now); !status) return std::unexpected(status.error());
  // Urgent work on other nodes comes before details about this node.
  const bool weighs_later =
      (now.remediation.resource_version != seen || now.are_others_unrecorded) &&
      weighs_evidence(now);
  if (!weighs_later) {
    if (auto status = weigh_evidence(now); !status) return std::unexpected(status.error());
  }
  // `opened` needs the class of the error from the exporter.
  const RemediationStatus& known = now.remediation.status;
  const bool is_awaited = known.error_class.empty() || is_class_awaited(known, parts_.clock.wall());
  if (!weighs_later || !is_awaited) {
    if (auto status = records_.notify_sinks(now); !status) return std::unexpected(status.error());
  }
  if (!weighs_later) return now.decision.look_again;
  return std::min(now.decision.look_again.value_or(kWeighAfter), kWeighAfter);
}

// Notifies the sinks of the end, and removes the finalizer of a deleted Remediation.
LookAgain Reconciler::finish_closed(Case& now) {
  if (auto status = records_.notify_sinks(now); !status) return std::unexpected(status.error());
  if (!now.remediation.must_be_let_go()) return std::nullopt;
  const auto gone = parts_.store.let_go(now.remediation);
  if (!gone && gone.error().kind != ErrorKind::kNotFound) return std::unexpected(gone.error());
  return std::nullopt;
}

// Returns whether to read the node's report, so that the checks of a long step do not query
// Prometheus each time.
bool Reconciler::weighs_evidence(const Case& now) const {
  const Remediation& remediation = now.remediation;
  const bool goes_on =
      now.decision.verdict == Verdict::kBegin || now.decision.verdict == Verdict::kWatch;
  const bool is_known = goes_on && remediation.status.confirmed_severity &&
                        !is_class_awaited(remediation.status, parts_.clock.wall());
  return parts_.reports != nullptr && !is_known && remediation.open() && remediation.any_firing();
}

// Records findings and report for people. Done in a pass with no other write, so that a drain never
// waits for Prometheus.
Status Reconciler::weigh_evidence(Case& now) {
  const Remediation& remediation = now.remediation;
  RemediationStatus next = remediation.status;
  remember_findings(now.target, next);
  if (weighs_evidence(now)) {
    const auto report = decider_.report_of(remediation.node);
    if (report && report->boot_id == remediation.boot_id) note_evidence(*report, next);
  }
  const bool is_known = next == remediation.status && !records_.has_news(now);
  return is_known ? Status() : records_.write(now, next);
}

void Reconciler::forget(const std::string& name) {
  reader_.trust(name);
  pending_.forget(name);
  steps_.forget(name);
}

}  // namespace gpuward::remediator
