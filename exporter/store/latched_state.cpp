#include "exporter/store/latched_state.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostTextBytes = 1024;
constexpr std::size_t kMostLabelBytes = 128;
// A line may count several errors (EDAC), but no line may overflow a counter.
constexpr std::uint64_t kMostErrorsPerLine = 1'000'000;

// The driver reports a lost GPU in up to four ways within milliseconds; xid_notes: one event.
constexpr std::uint32_t kFallenOffTheBus = 79;
constexpr std::chrono::seconds kBurst{5};
constexpr std::uint32_t kRecoveryAction = 154;
constexpr std::string_view kDriverEvent = "driver event";

CounterKey key_of(const xid::Event& event) {
  // A code identifies the fault: `fallen_off` and 79 are the same.
  const std::string label =
      event.code == 0 ? to_valid_utf8(event.label, kMostLabelBytes) : std::string();
  return {event.kind, event.code, label, event.pci ? event.pci->bus_id() : std::string(),
          to_valid_utf8(event.switch_name, kMostLabelBytes)};
}

std::string code_text(const CounterKey& key) {
  return key.code != 0 ? std::to_string(key.code) : key.label;
}

bool is_repeat_within_burst(const CounterKey& key, const Counter& counter, WallTime seen) {
  if (key.kind != xid::Kind::kXid || key.code != kFallenOffTheBus || counter.count == 0)
    return false;
  const auto apart = seen > counter.last_seen ? seen - counter.last_seen : counter.last_seen - seen;
  return apart < kBurst;
}

bool may_add(std::size_t size, std::size_t limit, const Observation& observation,
             bool is_of_known_gpu) {
  if (observation.evidence == Evidence::kUserSpace) return size < limit / 4;
  return size < limit || (observation.verdict.known && is_of_known_gpu);
}

// The longest time between a hang without an address in the log and the reset of its GPU.
constexpr std::chrono::minutes kResetFollows{10};

// The driver has reset the GPU or one of its rings by itself. Ends the findings that the reset
// clears.
void clear_by_reset(State& state, const Recovered& gpu) {
  const bool is_of_ring = gpu.code == "ring_reset_succeeded";
  const WallTime seen = gpu.at;
  const auto gone = std::erase_if(state.findings, [&](const auto& entry) {
    const Finding& finding = entry.second;
    const bool is_hang = finding.check == xid::to_string(xid::Kind::kAmdHang);
    const bool is_meant = !is_of_ring || (is_hang && finding.code == "ring_timeout");
    const bool is_before_it =
        is_hang && finding.pci_bus_id.empty() && seen - finding.last_seen <= kResetFollows;
    const bool is_of_gpu = finding.pci_bus_id == gpu.pci_bus_id || is_before_it;
    return finding.cleared_by == ClearedBy::kGpuReset && is_meant && is_of_gpu &&
           finding.last_seen <= seen;
  });
  if (gone != 0) state.findings_updated = std::max(state.findings_updated, seen);
}

// A line of this boot replaces what is known from lines of an earlier boot.
void begin_in_this_boot(Finding& finding, const Observation& observation,
                        const std::string& boot_id) {
  if (!std::exchange(finding.is_of_earlier_boot, false)) return;
  finding.history = Severity::kNone;
  finding.first_seen = finding.last_seen = observation.seen;
  finding.first_boot_id = boot_id;
}

// Records the severity of an old line, unless a current one already has a severity.
void remember(Finding& finding, const Observation& observation, const std::string& boot_id) {
  if (finding.severity != Severity::kNone) return;
  if (observation.is_of_earlier_boot && !finding.is_of_earlier_boot) return;
  if (!observation.is_of_earlier_boot) {
    begin_in_this_boot(finding, observation, boot_id);
    finding.last_boot_id = boot_id;
  }
  ++finding.count;
  finding.first_seen = std::min(finding.first_seen, observation.seen);
  finding.last_seen = std::max(finding.last_seen, observation.seen);
  if (observation.verdict.severity < finding.history) return;
  finding.history = observation.verdict.severity;
  finding.cleared_by = observation.verdict.cleared_by;
  finding.line = to_valid_utf8(observation.line, kMostTextBytes);
  finding.why = to_valid_utf8(observation.verdict.why, kMostTextBytes);
}

// Xid 162 (power smoothing is back in service) ends Xid 163 (NVIDIA's Xid catalogue), unless an
// override rates 163 as reset or worse, because a line by itself must not cancel an action.
constexpr std::uint32_t kSmoothingOff = 163;
constexpr std::uint32_t kSmoothingBack = 162;

void clear_by_recovery(State& state, const Observation& observation, const CounterKey& key) {
  if (key.kind != xid::Kind::kXid || key.code != kSmoothingBack) return;
  const auto found =
      state.findings.find({std::string(xid::to_string(key.kind)), std::to_string(kSmoothingOff),
                           key.pci_bus_id, observation.evidence});
  if (found == state.findings.end() || found->second.severity > Severity::kMonitor ||
      found->second.last_seen > observation.seen)
    return;
  state.findings.erase(found);
  state.findings_updated = std::max(state.findings_updated, observation.seen);
}

void take_witness(State& state, const Witnessed& witnessed, WallTime now) {
  const auto found = state.findings.find(
      {witnessed.check, witnessed.code, witnessed.pci_bus_id, Evidence::kKernel});
  if (found == state.findings.end()) return;
  Finding& finding = found->second;
  if (finding.witnessed >= witnessed.severity) return;
  finding.severity = std::max(finding.severity, std::exchange(finding.history, Severity::kNone));
  finding.witness = to_valid_utf8(witnessed.by, kMostLabelBytes);
  finding.witnessed = witnessed.severity;
  state.findings_updated = std::max(state.findings_updated, now);
}

// Returns the outcome alone; apply_check() puts the rest into the findings.
CheckResult without_findings(CheckResult result) {
  result.findings.clear();
  result.untold.clear();
  result.suspected.clear();
  result.witnessed.clear();
  result.recovered.clear();
  result.allowed.clear();
  result.no_job.clear();
  result.is_withdrawn = false;
  result.details = to_valid_utf8(result.details, kMostTextBytes);
  return result;
}

// The counters override errors that the kernel log only repeats.
void take_allowance(State& state, const AllowedErrors& errors, WallTime now) {
  const auto found = state.findings.find({std::string(xid::to_string(xid::Kind::kAmdRas)), "UE",
                                          errors.pci_bus_id, Evidence::kKernel});
  if (found == state.findings.end()) return;
  Finding& finding = found->second;
  if (finding.severity <= Severity::kMonitor || finding.last_seen >= errors.read_at) return;
  finding.severity = Severity::kMonitor;
  finding.witness.clear();
  finding.witnessed = Severity::kNone;
  finding.why = to_valid_utf8(errors.why, kMostTextBytes);
  state.findings_updated = std::max(state.findings_updated, now);
}

// A confirmed finding stays confirmed while the second source is silent.
void settle_suspected(State& state, const CheckResult& result) {
  for (const auto& [confirmed, unconfirmed, pci_bus_id] : result.suspected) {
    const auto stands =
        state.findings.find({result.check, confirmed, pci_bus_id, Evidence::kMeasured});
    if (stands == state.findings.end() || stands->second.severity == Severity::kNone) continue;
    const auto gone =
        state.findings.erase({result.check, unconfirmed, pci_bus_id, Evidence::kMeasured});
    if (gone != 0) state.findings_updated = std::max(state.findings_updated, result.started);
  }
}

// Replaces the last result of a check whose findings are gone, because the next run of check 1 may
// be hours away and would be skipped while the GPUs are in use.
void settle_results(State& state, const ClearRequest& request,
                    const std::vector<Finding>& cleared) {
  for (auto& [name, result] : state.checks) {
    const auto is_of_check = [&](const Finding& finding) { return finding.check == name; };
    const bool has_more = std::ranges::any_of(
        state.findings, [&](const auto& entry) { return is_of_check(entry.second); });
    const bool is_superseded = request.supersedes(result);
    if (has_more || !(is_superseded || std::ranges::any_of(cleared, is_of_check))) continue;
    const std::string said = std::string(to_string(result.status)) + ": " + result.details;
    result.status = CheckStatus::kSkip;
    result.severity = Severity::kNone;
    result.details =
        to_valid_utf8((is_superseded ? "a later diagnostic passed; previous result: "
                                     : "its findings were cleared; previous result: ") +
                          said,
                      kMostTextBytes);
  }
}

Finding fresh_finding(const FindingKey& key, const Observation& observation,
                      const std::string& boot_id) {
  Finding fresh;
  fresh.check = key.check;
  fresh.code = key.code;
  fresh.pci_bus_id = key.pci_bus_id;
  fresh.evidence = key.evidence;
  fresh.first_seen = fresh.last_seen = observation.seen;
  fresh.is_of_earlier_boot = observation.is_of_earlier_boot;
  if (!fresh.is_of_earlier_boot) fresh.first_boot_id = boot_id;
  fresh.is_by_library_alone = observation.is_driver_event;
  return fresh;
}

// The worst verdict stays, with its line.
void take_verdict(Finding& finding, const Observation& observation) {
  if (observation.verdict.severity < finding.severity) return;
  finding.severity = observation.verdict.severity;
  finding.history = Severity::kNone;
  finding.cleared_by = observation.verdict.cleared_by;
  finding.line = to_valid_utf8(observation.line, kMostTextBytes);
  finding.why = to_valid_utf8(observation.verdict.why, kMostTextBytes);
}

}  // namespace

std::vector<std::string> LatchedState::set_gpus(const std::vector<Gpu>& gpus, WallTime now) {
  known_gpus_.clear();
  present_.clear();
  for (const Gpu& gpu : gpus) ++present_[gpu.vendor];
  state_.machine.learn_present(present_);
  std::vector<std::string> swapped;
  for (const Gpu& gpu : gpus) {
    const std::string bus_id = gpu.pci.bus_id();
    known_gpus_.insert(bus_id);
    if (gpu.uuid.empty()) continue;
    std::string& board = state_.boards[bus_id];
    if (!board.empty() && board != gpu.uuid) swapped.push_back(bus_id);
    board = gpu.uuid;
  }
  // If the board was swapped while the machine was off, the lines of this boot belong to the new
  // one.
  const bool is_first = state_.boards_boot_id != state_.boot_id && !state_.boot_id.empty() &&
                        state_.position.boot_id == state_.boot_id;
  for (const std::string& bus_id : swapped) {
    // A new UUID makes new series, which start at 0.
    std::erase_if(state_.counters,
                  [&](const auto& entry) { return entry.first.pci_bus_id == bus_id; });
    const auto gone = std::erase_if(state_.findings, [&](const auto& entry) {
      const bool is_of_new = is_first && entry.second.last_boot_id == state_.boot_id;
      return entry.first.pci_bus_id == bus_id && !is_of_new;
    });
    std::erase_if(state_.settled,
                  [&](const auto& entry) { return entry.first.pci_bus_id == bus_id; });
    state_.uuids.erase(bus_id);
    if (gone != 0) state_.findings_updated = now;
  }
  if (std::ranges::any_of(gpus, [](const Gpu& gpu) { return !gpu.uuid.empty(); }))
    state_.boards_boot_id = state_.boot_id;
  return swapped;
}

void LatchedState::observe(const Observation& observation) {
  const CounterKey key = key_of(observation.event);
  if (observation.is_history) {
    if (count(observation, key) && observation.verdict.severity != Severity::kNone)
      latch(observation, key, {});
    return;
  }
  const bool may_have_twin =
      key.kind == xid::Kind::kXid &&
      (observation.evidence == Evidence::kKernel || observation.is_of_text_log);
  std::optional<Severity> twin;
  if (may_have_twin) {
    twin = twins_.twin_of(key, observation.seen, observation.is_driver_event,
                          observation.verdict.severity);
  }
  const bool is_new_event = !twin && count(observation, key);
  clear_by_recovery(state_, observation, key);
  // An event without a meaning for the GPU (a recovery, a follow-up of another Xid) is counted but
  // not latched.
  if (observation.verdict.severity != Severity::kNone)
    latch(observation, key, {is_new_event, twin});
}

bool LatchedState::count(const Observation& observation, const CounterKey& key) {
  auto found = state_.counters.find(key);
  if (found == state_.counters.end()) {
    if (!may_add(state_.counters.size(), limits_.counters, observation,
                 known_gpus_.contains(key.pci_bus_id))) {
      ++state_.dropped_events;
      return false;
    }
    found = state_.counters.emplace(key, Counter{}).first;
  }
  Counter& counter = found->second;
  const bool is_new_event = !is_repeat_within_burst(key, counter, observation.seen);
  if (is_new_event) counter.count += std::min(observation.event.count, kMostErrorsPerLine);
  counter.last_seen = std::max(counter.last_seen, observation.seen);
  return is_new_event;
}

void LatchedState::latch(const Observation& observation, const CounterKey& key, Told told) {
  const FindingKey finding_key{std::string(xid::to_string(key.kind)), code_text(key),
                               key.pci_bus_id, observation.evidence};
  auto found = state_.findings.find(finding_key);
  if (found == state_.findings.end()) {
    if (!may_add(state_.findings.size(), limits_.findings, observation,
                 known_gpus_.contains(key.pci_bus_id))) {
      ++state_.dropped_events;
      return;
    }
    found = state_.findings
                .emplace(finding_key, fresh_finding(finding_key, observation, state_.boot_id))
                .first;
    told.is_new = true;
  }
  Finding& finding = found->second;
  if (observation.is_history) return remember(finding, observation, state_.boot_id);
  begin_in_this_boot(finding, observation, state_.boot_id);
  if (told.is_new) ++finding.count;
  finding.is_by_library_alone &= observation.is_driver_event;
  if (!observation.workload.empty()) finding.workload = observation.workload;
  finding.first_seen = std::min(finding.first_seen, observation.seen);
  finding.last_seen = std::max(finding.last_seen, observation.seen);
  finding.last_boot_id = state_.boot_id;
  state_.findings_updated = std::max(state_.findings_updated, observation.seen);
  // The driver's own event is a second witness for its log line, and needs none for its own report.
  // The event of Xid 154 does not say which action the driver asks for.
  const bool is_event = (observation.is_driver_event || told.twin) &&
                        observation.evidence == Evidence::kKernel && key.code != kRecoveryAction;
  const Severity told_of =
      std::max(observation.verdict.severity, told.twin.value_or(Severity::kNone));
  if (is_event && told_of > finding.witnessed) {
    finding.witnessed = told_of;
    finding.witness = kDriverEvent;
  }
  take_verdict(finding, observation);
}

void LatchedState::apply_check(const CheckResult& result, bool is_diagnostic) {
  state_.checks[result.check] = without_findings(result);
  const bool could_tell =
      result.status != CheckStatus::kError && result.status != CheckStatus::kSkip;
  const bool is_proof = is_diagnostic && result.status == CheckStatus::kPass;
  std::set<FindingKey> found;
  for (const Finding& finding : result.findings) {
    found.insert({result.check, finding.code, finding.pci_bus_id, finding.evidence});
  }
  const auto gone = std::erase_if(state_.findings, [&](const auto& entry) {
    const ClearedBy by = entry.second.cleared_by;
    const bool is_own = entry.first.check == result.check;
    if (result.is_withdrawn && is_own && by == ClearedBy::kCheck) return true;
    if (is_proof && by == ClearedBy::kDiagnostics) return entry.second.last_seen <= result.started;
    const bool is_untold = std::ranges::any_of(
        result.untold, [&](const Untold& untold) { return untold.covers(entry.second); });
    const bool is_looked_at_anew =
        !is_untold && (by == ClearedBy::kCheck || by == ClearedBy::kDiagnostics);
    return could_tell && is_looked_at_anew && is_own && !found.contains(entry.first);
  });
  if (gone != 0) state_.findings_updated = std::max(state_.findings_updated, result.started);
  for (const Finding& finding : result.findings) latch_check(result, finding);
  settle_suspected(state_, result);
  for (const Witnessed& witnessed : result.witnessed)
    take_witness(state_, witnessed, result.started);
  for (const Recovered& gpu : result.recovered) clear_by_reset(state_, gpu);
  for (const AllowedErrors& errors : result.allowed) take_allowance(state_, errors, result.started);
}

// Unlike a line of the kernel log, a measurement is the current state: a finding that the next run
// clears can also become less severe.
void LatchedState::latch_check(const CheckResult& result, const Finding& found) {
  const FindingKey key{result.check, found.code, found.pci_bus_id, found.evidence};
  // The run may have begun before an operator cleared the finding.
  const auto settled = state_.settled.find(key);
  if (settled != state_.settled.end() && settled->second == found.event) return;
  const WallTime seen = result.started + result.duration;
  const auto known = state_.findings.find(key);
  if (known == state_.findings.end()) {
    // Lines of the kernel log must not use up the room for measurements.
    const auto measured = std::ranges::count_if(state_.findings, [](const auto& entry) {
      return entry.first.evidence == Evidence::kMeasured;
    });
    if (static_cast<std::size_t>(measured) >= limits_.findings &&
        !known_gpus_.contains(key.pci_bus_id)) {
      ++state_.dropped_events;
      return;
    }
    Finding fresh = found;
    fresh.check = result.check;
    fresh.line = to_valid_utf8(found.line, kMostTextBytes);
    fresh.why = to_valid_utf8(found.why, kMostTextBytes);
    fresh.first_seen = fresh.last_seen = seen;
    fresh.count = 1;
    fresh.first_boot_id = fresh.last_boot_id = state_.boot_id;
    state_.findings.emplace(key, std::move(fresh));
    state_.findings_updated = std::max(state_.findings_updated, seen);
    return;
  }
  Finding& finding = known->second;
  ++finding.count;
  finding.last_seen = std::max(finding.last_seen, seen);
  finding.last_boot_id = state_.boot_id;
  if (!found.workload.empty()) finding.workload = found.workload;
  const bool is_untold = std::ranges::any_of(
      result.untold, [&](const Untold& untold) { return untold.covers(finding); });
  // The same event, judged again with all its values.
  const bool is_judged_again = !found.event.empty() && found.event == finding.event && !is_untold;
  const bool may_fall = found.cleared_by == ClearedBy::kCheck || is_judged_again;
  if (found.severity < finding.severity && !may_fall) return;
  if (found.severity != finding.severity)
    state_.findings_updated = std::max(state_.findings_updated, seen);
  finding.severity = found.severity;
  finding.is_too_soon = found.is_too_soon;
  finding.cleared_by = found.cleared_by;
  finding.event = found.event;
  finding.line = to_valid_utf8(found.line, kMostTextBytes);
  finding.why = to_valid_utf8(found.why, kMostTextBytes);
}

bool LatchedState::learn_uuid(const xid::UuidLine& line) {
  const std::string bus_id = line.pci.bus_id();
  const auto known = state_.uuids.find(bus_id);
  if (known != state_.uuids.end() ? known->second == line.uuid
                                  : state_.uuids.size() >= limits_.uuids) {
    return false;
  }
  state_.uuids[bus_id] = to_valid_utf8(line.uuid, kMostLabelBytes);
  return true;
}

void LatchedState::enter_boot(const std::string& boot_id, WallTime now) {
  if (boot_id.empty() || boot_id == state_.boot_id) return;
  const auto cleared = std::erase_if(state_.findings, [](const auto& entry) {
    const ClearedBy by = entry.second.cleared_by;
    return by == ClearedBy::kReboot || by == ClearedBy::kGpuReset;
  });
  bool has_changed = cleared != 0;
  for (auto& [key, finding] : state_.findings) {
    finding.is_of_earlier_boot |= finding.history != Severity::kNone;
    if (finding.cleared_by != ClearedBy::kCheck || finding.severity == Severity::kNone) continue;
    finding.severity = Severity::kNone;
    has_changed = true;
  }
  if (has_changed) state_.findings_updated = now;
  state_.uuids.clear();  // boards may have been swapped
  state_.boot_id = boot_id;
}

bool LatchedState::expire(WallTime now, std::chrono::milliseconds age) {
  const auto gone = std::erase_if(state_.findings, [&](const auto& entry) {
    const Finding& finding = entry.second;
    return finding.cleared_by == ClearedBy::kAge && now - finding.last_seen >= age;
  });
  if (gone != 0) state_.findings_updated = now;
  return gone != 0;
}

std::vector<Finding> LatchedState::clear(const ClearRequest& request, WallTime now) {
  std::vector<Finding> cleared;
  std::erase_if(state_.findings, [&](const auto& entry) {
    const bool is_meant = request.matches(entry.second);
    if (!is_meant) return false;
    cleared.push_back(entry.second);
    if (!entry.second.event.empty()) state_.settled[entry.first] = entry.second.event;
    return true;
  });
  if (!cleared.empty()) state_.findings_updated = now;
  for (const Finding& finding : cleared) state_.machine.forget(finding.code, present_);
  settle_results(state_, request, cleared);
  return cleared;
}

}  // namespace gpuward::exporter
