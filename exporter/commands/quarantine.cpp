#include "exporter/commands/quarantine.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/kube/update_node.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/store/clear_request.h"
#include "exporter/watch/asking_label.h"

namespace gpuward::exporter {
namespace {

bool any(const std::vector<CheckResult>& results, CheckStatus status) {
  return std::ranges::any_of(results, [&](const CheckResult& r) { return r.status == status; });
}

// DCGM decides if it was requested: a pass of NCCL does not cover what DCGM skipped.
bool has_passed_diagnostic(const std::vector<CheckResult>& results) {
  for (const std::string_view diagnostic : {"4-", "5-"}) {
    const auto result = std::ranges::find_if(
        results, [&](const CheckResult& known) { return known.check.starts_with(diagnostic); });
    if (result != results.end()) return result->status == CheckStatus::kPass;
  }
  return false;
}

NodeStatus status_of(const std::vector<CheckResult>& results, Severity severity) {
  if (severity >= Severity::kReset) return NodeStatus::kFail;
  const bool is_clean = has_passed_diagnostic(results) && severity == Severity::kNone &&
                        !any(results, CheckStatus::kError) && !any(results, CheckStatus::kWarn);
  return is_clean ? NodeStatus::kPass : NodeStatus::kWarn;
}

std::string next_step(const QuarantineResult& verdict) {
  switch (verdict.severity) {
    case Severity::kIsolate:
      return "replace the node";
    case Severity::kReboot:
      return "reboot the node and quarantine it again; replace it if it fails again";
    case Severity::kReset:
      return "reset its GPUs and quarantine the node again; replace it if it fails again";
    case Severity::kMonitor:
      return "inspect the checks: one has a warning, is inconclusive or did not run";
    case Severity::kNone:
      break;
  }
  return "remove the taint and uncordon the node";
}

constexpr BackoffPolicy kRetry{.first = std::chrono::milliseconds(1'000),
                               .longest = std::chrono::milliseconds(30'000)};

CheckResult untold(int number, const Error& error) {
  CheckResult result;
  result.check = number == 4   ? "4-dcgm-diag-l4"
                 : number == 5 ? "5-nccl-allreduce"
                               : "6-efa-loopback";
  result.status = CheckStatus::kError;
  result.details = error.message;
  return result;
}

bool is_lasting(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kNotFound || kind == ErrorKind::kGone;
}

}  // namespace

QuarantineResult judge_quarantine(const std::vector<CheckResult>& results) {
  QuarantineResult verdict;
  verdict.severity = Severity::kNone;
  for (const CheckResult& result : results)
    verdict.severity = std::max(verdict.severity, result.severity);
  verdict.status = status_of(results, verdict.severity);
  if (verdict.status == NodeStatus::kWarn) verdict.severity = Severity::kMonitor;
  verdict.recommendation = verdict.status == NodeStatus::kPass      ? "return-to-service"
                           : verdict.severity == Severity::kIsolate ? "replace"
                                                                    : "investigate";
  verdict.next = next_step(verdict);
  return verdict;
}

std::string quarantine_result(const QuarantineResult& verdict,
                              const std::vector<CheckResult>& results, std::string_view node,
                              WallTime now) {
  // As in the annotation `results`: a check without findings or without a result has no severity.
  Json checks = Json::array();
  for (const CheckResult& result : results) {
    const bool has_found = result.severity != Severity::kNone;
    checks.push_back({{"check", result.check},
                      {"status", to_upper(to_string(result.status))},
                      {"severity", has_found ? severity_word(result.severity) : ""}});
  }
  return dump_json({{"timestamp", to_rfc3339(now)},
                    {"node", node},
                    {"suite", "quarantine"},
                    {"status", to_string(verdict.status)},
                    {"severity", severity_word(verdict.severity)},
                    {"recommendation", verdict.recommendation},
                    {"next", verdict.next},
                    {"checks", std::move(checks)}});
}

Error blocked_by(const std::string& label) {
  return {ErrorKind::kBlocked,
          "a driver upgrade or a MIG change needs the GPUs of the node (label " + label +
              "): quarantine it again when that label has changed back",
          {}};
}

Quarantine::Quarantine(QuarantineOptions options, kube::Api& api, Clock& clock, Log& log)
    : options_(std::move(options)), api_(api), clock_(clock), log_(log) {}

Result<QuarantineResult> Quarantine::run(const RunCheck& run_check, const std::stop_token& stop) {
  if (auto claimed = claim(); !claimed) return std::unexpected(claimed.error());
  const WallTime began = clock_.wall();
  const auto results = run_checks(run_check, stop);
  if (!results) {
    if (const auto released = release(); !released)
      log_.error("Failed to remove mode label, it stays until the claim expires",
                 {{"error", released.error().message}});
    return std::unexpected(results.error());
  }
  QuarantineResult verdict = judge_quarantine(*results);
  // Findings go first, so that the node's exporter does not report fail beside the verdict.
  if (verdict.status == NodeStatus::kPass) clear_findings(began);
  if (const auto published = publish(verdict, *results); !published) {
    log_.error("Failed to write quarantine result to node",
               {{"node", options_.node},
                {"recommendation", verdict.recommendation},
                {"error", published.error().message}});
  }
  return verdict;
}

Status Quarantine::may_have(const kube::Node& node) const {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::kRefused, "node " + options_.node + " cannot be quarantined: " + why);
  };
  if (const auto label = label_asking_for_gpus(node.meta.labels))
    return std::unexpected(blocked_by(*label));
  for (const NodeName name : {NodeName::kQuarantineClaim, NodeName::kMaintenanceClaim}) {
    const auto claim = claim_on(node, name);
    if (claim && claim->expires > clock_.wall() && claim->owner != options_.owner)
      return refuse("it is already claimed by " + claim->owner);
  }
  if (options_.needs_cordon && !node.unschedulable)
    return refuse("it is not cordoned: run kubectl cordon " + options_.node);
  const auto failures = lasting_failures(node, clock_.wall());
  if (!runs_diagnostic() && !failures.empty())
    return refuse("it failed a " + failures.front().suite +
                  ", and only check 4 can clear that result");
  return {};
}

bool Quarantine::runs_diagnostic() const {
  return std::ranges::find(options_.checks, 4) != options_.checks.end();
}

Status Quarantine::claim() {
  Status allowed;
  const std::string claim_text = render_claim({options_.owner, clock_.wall() + options_.limit});
  const auto claimed = kube::update_node(
      api_, {options_.node, {}},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        allowed = may_have(seen);
        if (!allowed) return std::nullopt;
        const NodeNames& names = names_on(seen);
        kube::NodeChange change;
        change.set_labels.emplace(names(NodeName::kMode), "quarantine");
        change.set_annotations.emplace(names(NodeName::kQuarantineClaim), claim_text);
        return change;
      },
      clock_);
  if (!claimed) return with_context("marking the node", claimed.error());
  if (!allowed) return allowed;
  uid_ = claimed->meta.uid;
  return {};
}

Result<std::vector<CheckResult>> Quarantine::run_checks(const RunCheck& run_check,
                                                        const std::stop_token& stop) {
  const auto stopped = fail(ErrorKind::kCancelled, "stopped before the diagnostics had ended");
  std::vector<CheckResult> results;
  for (const int number : options_.checks) {
    if (stop.stop_requested()) return stopped;
    if (const auto label = label_asking_for_gpus(api_, options_.node))
      return std::unexpected(blocked_by(*label));
    auto result = run_check(number, stop);
    if (!result && result.error().kind == ErrorKind::kBlocked)
      return std::unexpected(result.error());
    results.push_back(result ? *std::move(result) : untold(number, result.error()));
    log_.info("Quarantine check finished",
              {{"check", results.back().check},
               {"status", std::string(to_string(results.back().status))},
               {"severity", std::string(to_string(results.back().severity))}});
  }
  if (stop.stop_requested()) return stopped;
  return results;
}

void Quarantine::clear_findings(WallTime began) {
  ClearRequest request;
  // A pass of all_reduce alone clears no finding of a diagnostic.
  if (runs_diagnostic()) request.passed_diagnostic = began;
  if (options_.clears_latched) request.passed_for_operator = began;
  if (!request.passed_diagnostic && !request.passed_for_operator) return;
  const auto left = ClearRequests(options_.state_folder).leave(request, clock_.wall());
  if (!left)
    log_.warn("Failed to report the pass to the node's exporter, clear its findings manually",
              {{"error", left.error().message}, {"hint", "gpuward-exporter findings clear"}});
}

Status Quarantine::publish(const QuarantineResult& verdict,
                           const std::vector<CheckResult>& results) {
  const std::string text = quarantine_result(verdict, results, options_.node, clock_.wall());
  const auto deadline = clock_.steady() + options_.patience;
  for (Backoff backoff(kRetry);;) {
    const auto written = kube::update_node(
        api_, {options_.node, uid_},
        [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
          const NodeNames& names = names_on(seen);
          kube::NodeChange change;
          release_claims(seen, clock_.wall(), options_.owner, change);
          if (verdict.status == NodeStatus::kWarn && has_failed_diagnosis(seen)) return change;
          change.set_annotations.emplace(names(NodeName::kQuarantineResult), text);
          if (!options_.writes_labels) return change;
          change.set_labels.emplace(names(NodeName::kStatus), to_string(verdict.status));
          change.set_labels.emplace(names(NodeName::kSeverity), severity_word(verdict.severity));
          return change;
        },
        clock_);
    if (written) return {};
    if (is_lasting(written.error().kind) || clock_.steady() >= deadline)
      return std::unexpected(written.error());
    clock_.sleep_for(backoff.next(), {});
  }
}

Status Quarantine::release() {
  const auto released = kube::update_node(
      api_, {options_.node, uid_},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        kube::NodeChange change;
        release_claims(seen, clock_.wall(), options_.owner, change);
        return change;
      },
      clock_);
  if (!released) return std::unexpected(released.error());
  return {};
}

}  // namespace gpuward::exporter
