#include "exporter/commands/sweep.h"

#include <algorithm>
#include <utility>

#include "core/kube/update_node.h"
#include "core/runtime/json.h"
#include "exporter/commands/sweep_candidates.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/watch/asking_label.h"

namespace gpuward::exporter {
namespace {

// How much longer than its Job a sweep waits, and how much longer than the sweep its claim lasts:
// the end of a Job is seen a moment later, and the clocks of nodes differ.
constexpr std::chrono::seconds kJobSlack{60};
constexpr std::chrono::seconds kClaimSlack{300};

std::string render_result(const std::string& node, const SweepResult& verdict, kube::WallTime now) {
  return dump_json({{"timestamp", to_rfc3339(now)},
                    {"node", node},
                    {"suite", "sweep"},
                    {"status", to_string(verdict.status)},
                    {"severity", severity_word(verdict.severity)}});
}

// The agent of a node runs more than one check, so a pass of the sweep must not override any of its
// verdicts, or its label after it has stopped and no longer watches the node.
bool may_say_pass(const kube::Node& node) {
  return std::ranges::all_of(node.meta.labels, [](const auto& label) {
    return !is_node_key(label.first, NodeName::kStatus) || label.second == "pass";
  });
}

}  // namespace

Sweep::Sweep(SweepOptions options, kube::Api& api, Clock& clock, Log& log)
    : options_(std::move(options)), api_(api), clock_(clock), log_(log) {}

std::chrono::milliseconds sweep_limit(const SweepOptions& options) {
  return options.job.timeout + kJobSlack;
}

Result<SweepSummary> Sweep::run(const std::stop_token& stop) {
  auto nodes = list_candidates();
  if (!nodes) return std::unexpected(nodes.error());
  std::size_t left = nodes->size();
  for (const kube::Node& node : *nodes) {
    if (stop.stop_requested() || runs_.size() >= options_.max_nodes) break;
    tell(left--);
    const auto started = start_on(node);
    if (!started) {
      log_.error("Failed to start sweep",
                 {{"node", node.meta.name}, {"error", started.error().message}});
      report_.untold.push_back(node.meta.name);
      if (started.error().kind == ErrorKind::kForbidden ||
          started.error().kind == ErrorKind::kInvalid)
        break;  // the next node would fail the same way
    } else if (!*started) {
      ++report_.left_alone;
    }
  }
  follow(stop);
  return report_;
}

Result<std::vector<kube::Node>> Sweep::list_candidates() {
  auto nodes = api_.list_nodes(options_.selector);
  if (!nodes) return with_context("listing the GPU nodes", nodes.error());
  if (nodes->empty())
    log_.warn("No node matches the selector, nothing is swept: set --node-selector",
              {{"selector", options_.selector}});
  release_expired(*nodes);
  const auto left = std::erase_if(*nodes, [&](const kube::Node& node) {
    const auto objection = objection_to_sweep(node, clock_.wall());
    // release_expired() has cleaned up after expired claims, and the next sweep can take the node.
    if (objection) log_.debug("Skipped node", {{"node", node.meta.name}, {"why", *objection}});
    return objection.has_value();
  });
  report_.left_alone += left;
  sort_by_last_sweep(*nodes, clock_.wall());
  return nodes;
}

void Sweep::release_expired(const std::vector<kube::Node>& nodes) {
  for (const kube::Node& node : nodes) {
    kube::NodeChange change;
    release_claims(node, clock_.wall(), {}, change);
    if (change.remove_annotations.empty()) continue;
    log_.warn("Releasing node that an ended sweep or quarantine still claims",
              {{"node", node.meta.name}});
    if (const auto released = release(node.meta); !released)
      log_.error("Failed to release node",
                 {{"node", node.meta.name}, {"error", released.error().message}});
  }
}

Result<bool> Sweep::is_idle(const std::string& node) {
  const auto pods = api_.list_pods_on(node);
  if (!pods) return std::unexpected(pods.error());
  return std::ranges::none_of(*pods, has_gpus);
}

Result<bool> Sweep::start_on(const kube::Node& node) {
  if (auto idle = is_idle(node.meta.name); !idle || !*idle) return idle;
  if (auto claimed = claim(node); !claimed || !*claimed) return claimed;
  // A pod may have arrived between the check and the taint; after the taint none can.
  auto idle = is_idle(node.meta.name);
  Status started;
  if (idle && *idle) started = start_job(node);
  if (idle && *idle && started) {
    runs_.push_back({node.meta, sweep_job_name(node.meta.name, options_.owner),
                     clock_.steady() + options_.job.timeout + kJobSlack, std::nullopt});
    return true;
  }
  if (!started)
    (void)api_.delete_job(options_.job.ns, sweep_job_name(node.meta.name, options_.owner));
  if (const auto released = release(node.meta); !released)
    return with_context("releasing the node", released.error());
  if (!started) return std::unexpected(started.error());
  return idle;
}

Result<bool> Sweep::claim(const kube::Node& node) {
  bool is_claimed = false;
  const auto expires = clock_.wall() + options_.job.timeout + kJobSlack + kClaimSlack;
  const auto claimed = kube::update_node(
      api_, {node.meta.name, node.meta.uid},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        const auto own = claim_on(seen, NodeName::kMaintenanceClaim);
        is_claimed = own && own->owner == options_.owner;  // a retry after a lost answer
        if (is_claimed || objection_to_sweep(seen, clock_.wall())) return std::nullopt;
        is_claimed = true;
        const NodeNames& names = names_on(seen);
        kube::NodeChange change;
        change.set_taints.push_back(maintenance_taint(names));
        change.set_annotations.emplace(names(NodeName::kMaintenanceClaim),
                                       render_claim({options_.owner, expires}));
        change.set_annotations.emplace(names(NodeName::kLastSweep), to_rfc3339(clock_.wall()));
        return change;
      },
      clock_);
  if (!claimed) return with_context("tainting the node for maintenance", claimed.error());
  return is_claimed;
}

Status Sweep::start_job(const kube::Node& node) {
  const std::string& name = node.meta.name;
  const auto job = sweep_job(options_.job, name, options_.owner, names_on(node));
  if (!job) return std::unexpected(job.error());
  const auto created = api_.create_job(options_.job.ns, *job);
  // The name is unique to this sweep, so kAlreadyExists is a retry after a lost answer.
  if (!created && created.error().kind != ErrorKind::kAlreadyExists)
    return with_context("creating the Job", created.error());
  log_.info("Started sweep", {{"node", name}, {"job", sweep_job_name(name, options_.owner)}});
  return {};
}

// `left_to_start`: the remaining candidates. The count includes as many as the limit allows.
void Sweep::tell(std::size_t left_to_start) {
  if (!options_.on_progress) return;
  const auto running = static_cast<std::size_t>(std::ranges::count(runs_, false, &Run::is_over));
  SweepCount count{.done = report_.passed.size() + report_.skipped.size(),
                   .running = running,
                   .failed = report_.failed.size() + report_.untold.size()};
  count.all = count.done + count.running + count.failed +
              std::min(left_to_start, options_.max_nodes - runs_.size());
  if (told_ == count) return;
  told_ = count;
  options_.on_progress(count);
}

void Sweep::follow(const std::stop_token& stop) {
  const auto is_open = [](const Run& run) { return !run.is_over; };
  while (!stop.stop_requested()) {
    for (Run& run : runs_) {
      if (!run.is_over) look_at(run);
    }
    tell(0);
    if (std::ranges::none_of(runs_, is_open)) return;
    clock_.sleep_for(options_.poll_interval, stop);
  }
  for (Run& run : runs_) {
    if (!run.is_over) give_up(run, "the sweep was stopped", report_.untold);
  }
}

void Sweep::look_at(Run& run) {
  if (!run.verdict) run.verdict = verdict_of(run);
  if (run.verdict) finish(run);
  if (run.is_over) return;
  if (clock_.steady() >= run.deadline) return give_up(run, "its time is over", report_.untold);
  if (run.verdict) return;  // it is written at the next poll
  if (const auto label = label_asking_for_gpus(api_, run.node.name))
    give_up(run, "a label asks for its GPUs: " + *label, report_.skipped);
}

std::optional<SweepResult> Sweep::verdict_of(const Run& run) {
  const auto job = api_.get_job(options_.job.ns, run.job);
  if (!job && job.error().kind == ErrorKind::kNotFound)
    return SweepResult{.why = "the Job was deleted"};
  if (!job || (!job->is_complete && !job->is_failed)) return std::nullopt;
  const auto pods = api_.list_pods(options_.job.ns, "job-name=" + run.job);
  if (!pods) return std::nullopt;
  return judge_sweep_job(*job, *pods);
}

void Sweep::finish(Run& run) {
  const SweepResult& verdict = *run.verdict;
  const auto written = kube::update_node(
      api_, {run.node.name, run.node.uid},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        return change_for(seen, verdict);
      },
      clock_);
  const bool is_gone = !written && (written.error().kind == ErrorKind::kGone ||
                                    written.error().kind == ErrorKind::kNotFound);
  if (!written && !is_gone) {
    log_.warn("Failed to write sweep result, retrying",
              {{"node", run.node.name}, {"error", written.error().message}});
    return;
  }
  run.is_over = true;
  auto& list = verdict.status == NodeStatus::kPass   ? report_.passed
               : verdict.status == NodeStatus::kWarn ? report_.passed
               : verdict.status == NodeStatus::kFail ? report_.failed
               : verdict.is_skip                     ? report_.skipped
                                                     : report_.untold;
  list.push_back(run.node.name);
  log_.info("Finished sweep", {{"node", run.node.name},
                               {"status", std::string(to_string(verdict.status))},
                               {"severity", std::string(severity_word(verdict.severity))},
                               {"why", verdict.why}});
}

void Sweep::give_up(Run& run, const std::string& why, std::vector<std::string>& those) {
  run.is_over = true;
  those.push_back(run.node.name);
  log_.warn("Sweep ended without a result",
            {{"node", run.node.name}, {"job", run.job}, {"why", why}});
  const auto deleted = api_.delete_job(options_.job.ns, run.job);
  if (!deleted && deleted.error().kind != ErrorKind::kNotFound)
    log_.warn("Failed to delete Job, its deadline will end it",
              {{"job", run.job}, {"error", deleted.error().message}});
  if (const auto released = release(run.node); !released)
    log_.error("Failed to release node, its claim will expire",
               {{"node", run.node.name}, {"error", released.error().message}});
}

Status Sweep::release(const kube::ObjectMeta& node) {
  const auto released = kube::update_node(
      api_, {node.name, node.uid},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        kube::NodeChange change;
        release_claims(seen, clock_.wall(), options_.owner, change);
        return change;
      },
      clock_);
  if (!released && released.error().kind != ErrorKind::kGone &&
      released.error().kind != ErrorKind::kNotFound)
    return std::unexpected(released.error());
  return {};
}

kube::NodeChange Sweep::change_for(const kube::Node& seen, const SweepResult& verdict) {
  kube::NodeChange change;
  release_claims(seen, clock_.wall(), options_.owner, change);
  if (verdict.status == NodeStatus::kUnknown) return change;
  if (verdict.status == NodeStatus::kWarn && has_failed_diagnosis(seen)) return change;
  const NodeNames& names = names_on(seen);
  change.set_annotations.emplace(names(NodeName::kSweepResult),
                                 render_result(seen.meta.name, verdict, clock_.wall()));
  const bool has_failed = verdict.status == NodeStatus::kFail;
  if (options_.writes_labels && (has_failed || may_say_pass(seen))) {
    change.set_labels.emplace(names(NodeName::kStatus), to_string(verdict.status));
    change.set_labels.emplace(names(NodeName::kSeverity), severity_word(verdict.severity));
  }
  if (options_.writes_taint && has_failed) change.set_taints.push_back(unhealthy_taint(names));
  return change;
}

}  // namespace gpuward::exporter
