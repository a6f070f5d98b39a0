#include "core/xid/catalogue.h"

#include <algorithm>
#include <utility>

#include "core/xid/nvlink5.h"
#include "core/xid/tables.h"
#include "core/xid/xid74.h"

namespace gpuward::xid {
namespace {

constexpr std::uint32_t kNvlinkError = 74;
constexpr std::uint32_t kRowRemapFailure = 64;
constexpr std::uint32_t kUncontained = 95;
constexpr std::uint32_t kRecoveryAction = 154;
// A faulty driver adds this to the counters of a memory block at every query.
constexpr std::uint64_t kAmdCounterFault = 1'048'560;

const Row* find_row(std::span<const Row> rows, std::uint32_t code) {
  const auto row = std::ranges::lower_bound(rows, code, {}, &Row::code);
  return row != rows.end() && row->code == code ? &*row : nullptr;
}

Assessment unknown_code() {
  return {.severity = Severity::kMonitor,
          .action = "UNKNOWN",
          .cleared_by = ClearedBy::kAge,
          .why = std::string(kUnknownCodeWhy),
          .known = false,
          .source = "table"};
}

// A finding that decodes as harmless ends without a repeat, even if its row requires more to clear
// it.
ClearedBy cleared_by_decoded(Severity severity, ClearedBy row) {
  return severity <= Severity::kMonitor ? ClearedBy::kAge : row;
}

// The least event that clears a finding of this severity: nothing weaker than the required action
// may clear it.
ClearedBy at_least(Severity severity, ClearedBy cleared_by) {
  const bool by_age = cleared_by == ClearedBy::kAge;
  const bool by_reset = by_age || cleared_by == ClearedBy::kGpuReset;
  const bool by_reboot = by_reset || cleared_by == ClearedBy::kReboot;
  switch (severity) {
    case Severity::kNone:
    case Severity::kMonitor:
      return cleared_by;
    case Severity::kReset:
      return by_age ? ClearedBy::kGpuReset : cleared_by;
    case Severity::kReboot:
      return by_reset ? ClearedBy::kReboot : cleared_by;
    case Severity::kIsolate:
      return by_reboot ? ClearedBy::kOperator : cleared_by;
  }
  return cleared_by;
}

void decode_nvlink5(const Event& event, const CatalogueOptions& options, Assessment& verdict) {
  if (const auto* rule = find_nvlink5_rule(event, options.driver_branch)) {
    verdict.severity = rule->severity;
    verdict.action = rule->action;
    verdict.cleared_by = cleared_by_decoded(rule->severity, verdict.cleared_by);
    verdict.why = "The sub-code of " + std::string{rule->unit} + " asks for " + verdict.action;
    verdict.source = "decode";
    return;
  }
  switch (event.fatality) {
    case Fatality::kFatal:
      verdict.severity = std::max(Severity::kReset, options.nvlink5_default);
      verdict.why = "The driver reports a fatal error, and no rule matches its sub-code";
      verdict.source = "decode";
      return;
    case Fatality::kNonFatal:
    case Fatality::kCorrectable:
      verdict.severity = options.nvlink5_default;
      return;
    case Fatality::kUnknown:
      verdict.severity = std::max(verdict.severity, options.nvlink5_default);
      return;
  }
}

void decode_xid74(const Event& event, const CatalogueOptions& options, Assessment& verdict) {
  const auto reading = read_xid74(event.registers, options.nvlink_default);
  if (!reading.decided) return;
  verdict.severity = reading.severity;
  verdict.cleared_by = cleared_by_decoded(reading.severity, verdict.cleared_by);
  verdict.action = reading.action;
  verdict.why = reading.why;
  verdict.source = "decode";
}

void read_advice(const Event& event, Profile profile, Assessment& verdict) {
  for (const auto& advice : recovery_actions()) {
    if (event.recovery_to != advice.value) continue;
    verdict.severity = profile == Profile::kSeed ? advice.seed_severity : advice.severity;
    verdict.action = advice.action;
    verdict.cleared_by = advice.cleared_by;
    verdict.why = advice.why;
    verdict.clears = advice.clears;
    verdict.source = "driver";
  }
}

// On an A100, the seed requires a reboot instead of a reset for a row remapping failure, and for an
// uncontained error without MIG.
void refine_seed(const Event& event, std::string_view gpu_name, Assessment& verdict) {
  if (!gpu_name.contains("A100")) return;
  const bool mig = event.gpu_instance.has_value();
  if (event.code == kRowRemapFailure || (event.code == kUncontained && !mig))
    verdict.severity = Severity::kReboot;
}

// Returns the row that the number and the text of an SXid mean together.
const Row* find_meant(const Event& event) {
  for (const auto& moved : moved_sxids()) {
    if (moved.printed == event.code && event.unit.starts_with(moved.text))
      return Catalogue::find_sxid(moved.means);
  }
  return Catalogue::find_sxid(event.code);
}

// Fatal or Non-fatal in the line is the report of this switch; the table's class is only the usual
// one.
void read_word(const Event& event, Assessment& verdict) {
  switch (event.fatality) {
    case Fatality::kFatal:
      verdict.severity = std::max(verdict.severity, Severity::kReset);
      return;
    case Fatality::kNonFatal:
    case Fatality::kCorrectable:
      verdict.severity = std::min(verdict.severity, Severity::kMonitor);
      verdict.cleared_by = ClearedBy::kAge;
      return;
    case Fatality::kUnknown:
      return;
  }
}

Assessment judge_other(const Event& event) {
  const bool counter_fault =
      event.kind == Kind::kAmdRas && event.label == "UE" && event.count % kAmdCounterFault == 0;
  const std::string_view label = counter_fault ? "UE_counter_fault" : std::string_view{event.label};
  for (const auto& rule : other_rules()) {
    if (rule.kind != event.kind || (rule.label != "*" && rule.label != label)) continue;
    return {.severity = rule.severity,
            .action = std::string{rule.action},
            .cleared_by = rule.cleared_by,
            .why = std::string{rule.why},
            .clears = rule.clears,
            .source = "table"};
  }
  return unknown_code();
}

// Finishes a judgement: applies the operator's override, and requires at least the clearing event
// for the severity.
void conclude(const std::map<std::uint32_t, Override>& overrides, std::uint32_t code,
              Assessment& verdict) {
  const auto found = overrides.find(code);
  if (found == overrides.end()) {
    verdict.cleared_by = at_least(verdict.severity, verdict.cleared_by);
    return;
  }
  const auto& [severity, action, cleared_by] = found->second;
  if (severity) verdict.severity = *severity;
  if (action) verdict.action = *action;
  verdict.cleared_by = cleared_by.value_or(at_least(verdict.severity, verdict.cleared_by));
  verdict.known = true;
  verdict.source = "override";
}

}  // namespace

Catalogue::Catalogue(CatalogueOptions options) : options_(std::move(options)) {}

const Row* Catalogue::find_xid(std::uint32_t code) { return find_row(xid_rows(), code); }

const Row* Catalogue::find_sxid(std::uint32_t code) { return find_row(sxid_rows(), code); }

Assessment Catalogue::from_row(const Row* row) const {
  if (row == nullptr) return unknown_code();
  const bool seed = options_.profile == Profile::kSeed;
  return {.severity = seed ? row->seed_severity : row->default_severity,
          .action = std::string{row->action},
          .cleared_by = row->cleared_by,
          .why = std::string{row->why},
          .clears = row->clears,
          .source = seed ? "seed" : "table",
          .row = row};
}

Assessment Catalogue::judge_xid(const Event& event, std::string_view gpu_name) const {
  const bool seed = options_.profile == Profile::kSeed;
  auto verdict = from_row(find_xid(event.code));
  if (event.code == kNvlinkError) verdict.severity = options_.nvlink_default;
  if (seed && is_nvlink5(event.code)) verdict.severity = options_.nvlink5_default;
  if (seed) refine_seed(event, gpu_name, verdict);
  if (!seed && is_nvlink5(event.code)) decode_nvlink5(event, options_, verdict);
  if (!seed && event.code == kNvlinkError) decode_xid74(event, options_, verdict);
  if (!seed && event.asks_for_reset) {
    verdict.severity = std::max(verdict.severity, Severity::kReset);
    verdict.action = "RESET_GPU";
    verdict.why = "The driver contained the error and asks for a reset at the end of the log line";
    verdict.source = "driver";
  }
  if (event.code == kRecoveryAction) read_advice(event, options_.profile, verdict);
  conclude(options_.xid, event.code, verdict);
  return verdict;
}

Assessment Catalogue::judge_sxid(const Event& event) const {
  const auto* row = find_meant(event);
  auto verdict = from_row(row);
  const bool word_decides = row != nullptr && row->word_decides;
  if (word_decides && options_.profile != Profile::kSeed) read_word(event, verdict);
  conclude(options_.sxid, event.code, verdict);
  return verdict;
}

Assessment Catalogue::judge(const Event& event, std::string_view gpu_name) const {
  switch (event.kind) {
    case Kind::kXid:
      return judge_xid(event, gpu_name);
    case Kind::kSxid:
      return judge_sxid(event);
    case Kind::kRmInit:
    case Kind::kNvrm:
    case Kind::kPeermem:
    case Kind::kAmdRas:
    case Kind::kAmdReset:
    case Kind::kAmdHang:
    case Kind::kAmdLost:
    case Kind::kAer:
    case Kind::kEdac:
    case Kind::kMce:
    case Kind::kRule:
      break;
  }
  return judge_other(event);
}

std::vector<PolicyLine> Catalogue::xid_policy() const {
  std::map<std::uint32_t, PolicyLine> lines;
  const auto add = [&](std::uint32_t code) {
    Event event;
    event.code = code;
    const auto verdict = judge_xid(event, {});
    lines[code] = {code, verdict.severity, verdict.action, verdict.source};
  };
  for (const auto& row : xid_rows()) add(row.code);
  for (const auto& [code, changed] : options_.xid) add(code);
  std::vector<PolicyLine> policy;
  for (auto& [code, line] : lines) policy.push_back(std::move(line));
  return policy;
}

}  // namespace gpuward::xid
