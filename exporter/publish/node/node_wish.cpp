#include "exporter/publish/node/node_wish.h"

#include <algorithm>
#include <tuple>

#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/check/verdict.h"
#include "exporter/checks/rules/gpu_health.h"
#include "exporter/publish/node/condition_text.h"
#include "exporter/publish/node/node_findings.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostChecks = 32;

// Announcements say nothing about the node's health, so they are left out here and below.
Severity worst_severity(const State& state) {
  Severity worst = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    if (key.check != kAnnouncementsCheck) worst = std::max(worst, finding.severity);
  }
  return worst;
}

bool any_check(const State& state, auto&& predicate) {
  return std::ranges::any_of(state.checks, [&](const auto& entry) {
    return entry.first != kAnnouncementsCheck && predicate(entry.second.status);
  });
}

bool is_conclusive(CheckStatus status) {
  return status == CheckStatus::kPass || status == CheckStatus::kWarn ||
         status == CheckStatus::kFail;
}

// Returns true while this exporter waits for the first answer of the driver, of the kernel log or
// of a quick check. A driver that has hung or crashed is reported at once.
bool is_starting(const Snapshot& snapshot) {
  const GpuTelemetry& telemetry = snapshot.telemetry;
  const bool has_ended =
      telemetry.state == WorkerState::kHung || telemetry.state == WorkerState::kCrashed;
  const Health& health = snapshot.health;
  const bool is_log_unread = health.kernel_log_fault == Health::kNotReadYet;
  if (is_released(snapshot)) return true;
  if ((is_log_unread || !health.awaited.empty()) && !has_ended) return true;
  const auto evaluated = snapshot.state.checks.find(std::string(kGpuCheck));
  return telemetry.is_asked && telemetry.state == WorkerState::kStarting && !telemetry.report &&
         evaluated != snapshot.state.checks.end() &&
         evaluated->second.status == CheckStatus::kError;
}

// Returns true if the driver, the bus, the profile or the machine's history has GPUs.
bool has_gpus(const Snapshot& snapshot) {
  const KnownMachine& known = snapshot.state.machine;
  const auto any = [](const GpuCounts& counts) {
    return std::ranges::any_of(counts, [](const auto& entry) { return entry.second > 0; });
  };
  return !snapshot.gpus.empty() || snapshot.instance.gpus_on_pci.value_or(0) > 0 ||
         snapshot.instance.gpus_expected.value_or(0) > 0 || any(known.most) || any(known.labelled);
}

bool are_all_skipped(const State& state) {
  return state.checks.contains(std::string(kGpuCheck)) &&
         !any_check(state, [](auto s) { return s != CheckStatus::kSkip; });
}

NodeStatus status_of(Severity severity, bool has_looked, bool could_tell) {
  if (severity >= Severity::kReset) return NodeStatus::kFail;
  if (severity == Severity::kNone && !has_looked) return NodeStatus::kUnknown;
  return severity == Severity::kNone && could_tell ? NodeStatus::kPass : NodeStatus::kWarn;
}

TaintWish taint_of(const NodeWish& wish) {
  if (wish.status == NodeStatus::kFail) return TaintWish::kSet;
  return wish.could_tell ? TaintWish::kClear : TaintWish::kLeave;
}

void add_checks(const State& state, NodeWish& wish) {
  for (const auto& [name, result] : state.checks) {
    const WallTime ended = result.started + result.duration;
    const Verdict verdict = verdict_of(result, state);
    wish.last_check = std::max(wish.last_check, ended);
    if (is_dcgm_diagnostic(name) && result.status == CheckStatus::kPass)
      wish.last_diagnostic_pass = std::max(wish.last_diagnostic_pass, result.started);
    if (wish.checks.size() < kMostChecks)
      wish.checks.push_back({name, verdict.status, verdict.severity});
  }
}

// AMD's health service reports the same values.
std::map<std::string, bool> amd_gpus_healthy(const Snapshot& snapshot) {
  std::map<std::string, bool> is_healthy;
  // If the driver gave the index of a missing GPU to another one, the health of the other counts.
  for (const auto* gpus : {&snapshot.gpus, &snapshot.gone_gpus}) {
    for (const Gpu& gpu : *gpus) {
      const GpuHealth health = health_of(snapshot, gpu);
      if (gpu.vendor == Vendor::kAmd && health != GpuHealth::kUnknown)
        is_healthy.try_emplace(std::to_string(gpu.index), health == GpuHealth::kHealthy);
    }
  }
  return is_healthy;
}

void add_condition(const Snapshot& snapshot, NodeWish& wish) {
  if (wish.is_starting && wish.status != NodeStatus::kFail) return;
  if (wish.status == NodeStatus::kFail) {
    wish.condition = "True";
    wish.reason = kGpusAreDown;
    wish.message = worst_severity(snapshot.state) < Severity::kReset  // the seed profile
                       ? std::string(severity_word(wish.severity)) + ": " + untold_message(snapshot)
                       : broken_message(snapshot);
  } else if (snapshot.gpus.empty() || !wish.could_tell) {
    wish.condition = "Unknown";
    wish.reason = kGpusUnknown;
    wish.message = untold_message(snapshot);
  } else {
    wish.condition = "False";
    wish.reason = kGpusAreUp;
    wish.message = well_message(snapshot);
  }
}

std::optional<std::vector<NodeAnnouncement>> node_announcements(const Snapshot& snapshot) {
  const Announced& announced = snapshot.announced;
  if (!announced.is_read) return std::nullopt;
  std::vector<NodeAnnouncement> list;
  for (const Announcement& one : announced.list)
    list.push_back({one, announced.is_stale, snapshot.state.boot_id});
  return list;
}

auto substance(const NodeWish& wish) {
  return std::tie(wish.status, wish.severity, wish.taint, wish.could_tell, wish.checks,
                  wish.instance_type, wish.is_withdrawn, wish.condition, wish.reason, wish.message,
                  wish.amd_gpus_healthy, wish.announcements);
}

}  // namespace

NodeWish wish_of(const Snapshot& snapshot, UntoldNode untold_node) {
  const State& state = snapshot.state;
  const bool has_error = any_check(state, [](auto s) { return s == CheckStatus::kError; });
  const bool has_conclusion = any_check(state, is_conclusive);
  NodeWish wish;
  wish.is_starting = is_starting(snapshot);
  wish.could_tell = has_conclusion && !has_error && snapshot.health.awaited.empty() &&
                    !is_released(snapshot) && !snapshot.health.kernel_log_fault &&
                    unchecked_finding(state) == nullptr;
  wish.severity = worst_severity(state);
  wish.is_withdrawn = wish.severity == Severity::kNone && are_all_skipped(state) &&
                      snapshot.health.awaited.empty() && !is_released(snapshot);
  wish.status = status_of(wish.severity, has_conclusion || has_error, wish.could_tell);
  if (wish.is_starting && wish.status != NodeStatus::kFail) wish.status = NodeStatus::kUnknown;
  if (wish.status == NodeStatus::kWarn) wish.severity = Severity::kMonitor;
  if (untold_node == UntoldNode::kFails && has_error && !has_conclusion &&
      snapshot.health.awaited.empty() && has_gpus(snapshot) && wish.status == NodeStatus::kWarn) {
    wish.status = NodeStatus::kFail;
    wish.severity = Severity::kReset;
  }
  wish.taint = taint_of(wish);
  wish.instance_type = snapshot.instance.type;
  wish.amd_gpus_healthy = amd_gpus_healthy(snapshot);
  wish.findings = node_findings(snapshot);
  wish.announcements = node_announcements(snapshot);
  add_checks(state, wish);
  add_condition(snapshot, wish);
  return wish;
}

bool differ_in_substance(const NodeWish& a, const NodeWish& b) {
  return substance(a) != substance(b);
}

}  // namespace gpuward::exporter
