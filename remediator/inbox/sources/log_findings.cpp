#include "remediator/inbox/sources/log_findings.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/kube/names.h"
#include "core/runtime/text.h"
#include "core/xid/parser.h"
#include "remediator/model/error_class.h"

namespace gpuward::remediator {
namespace {

// The same code has the same name on all nodes, by which a storm is recognised.
std::string name_of(const xid::Event& event) {
  const std::string name = "log " + std::string(xid::to_string(event.kind));
  if (event.code != 0) return name + " " + std::to_string(event.code);
  return event.label.empty() ? name : name + " " + event.label;
}

std::string class_of(const xid::Event& event, Severity severity) {
  return error_class_of(
      {{"check", std::string(xid::to_string(event.kind))}, {"code", std::to_string(event.code)}},
      severity);
}

// The caller sets `error_class`.
std::optional<AlertSignal> signal_of_line(const LogLine& line, const std::string& node_label,
                                          Severity severity, const std::string& what) {
  const auto node = line.labels.find(node_label);
  if (node == line.labels.end() || !kube::validate_node_name(node->second)) return std::nullopt;
  const std::chrono::nanoseconds at(line.at);
  return AlertSignal{
      .node = node->second,
      .severity = severity,
      .alertname = what,
      .fingerprint = std::string(kLokiOrigin) + short_hash(node->second + '\n' + what),
      .firing = true,
      .starts_at = WallTime(std::chrono::duration_cast<WallTime::duration>(at)),
      .ends_at = {},
      .foreign = true};
}

}  // namespace

std::optional<AlertSignal> signal_of_kernel_line(const LogLine& line,
                                                 const xid::Catalogue& catalogue,
                                                 const LokiRules& rules) {
  const auto event = xid::parse_record(line.text);
  if (!event) return std::nullopt;
  const xid::Assessment verdict = catalogue.judge(*event);
  if (verdict.clears || !verdict.known || verdict.severity < Severity::kReset) return std::nullopt;
  auto signal = signal_of_line(line, rules.node_label, verdict.severity, name_of(*event));
  if (signal) signal->error_class = class_of(*event, verdict.severity);
  return signal;
}

bool is_unknown_kernel_line(const LogLine& line, const xid::Catalogue& catalogue) {
  if (const auto event = xid::parse_record(line.text)) {
    const xid::Assessment verdict = catalogue.judge(*event);
    return !verdict.known && !verdict.clears;
  }
  // An SXid line that is not an event holds the data of the line before; the others are parts of a
  // record that is complete only with its last line (core/xid/joiner).
  constexpr std::array<std::string_view, 3> kParts = {"SXid", "NVRM: The NVIDIA GPU ",
                                                      "NVRM: fallen off the bus"};
  const auto is_in = [&](std::string_view part) { return line.text.contains(part); };
  return !xid::parse_uuid_line(xid::strip_prefixes(line.text)) &&
         std::ranges::none_of(kParts, is_in);
}

std::optional<AlertSignal> signal_of_pod_line(const LogLine& line, const LokiRules& rules) {
  const auto rule = std::ranges::find_if(rules.pod_lines, [&](const PodLineRule& known) {
    return line.text.contains(known.contains);
  });
  if (rule == rules.pod_lines.end()) return std::nullopt;
  auto signal = signal_of_line(line, rules.node_label, rule->severity,
                               "log pod " + to_valid_utf8(rule->contains, 100));
  if (signal) signal->error_class = error_class_of({}, rule->severity);
  return signal;
}

}  // namespace gpuward::remediator
