#include "remediator/cli/replay/replay_text.h"

#include <algorithm>
#include <cstdint>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

// "3h 20m", "45m", "0m".
std::string span_of(std::chrono::milliseconds time) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  const std::string hours = minutes >= 60 ? std::to_string(minutes / 60) + "h " : "";
  return hours + std::to_string(minutes % 60) + "m";
}

std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string line_of(const ReplayEvent& event, std::size_t width) {
  const bool has_rule = event.kind == ReplayEvent::Kind::kWait;
  return to_rfc3339(event.at) + "  " + padded(event.node, width) + "  " +
         padded(std::string(to_string(event.kind)), 5) + "  " +
         (has_rule ? event.rule + ": " : "") + event.text + "\n";
}

std::string scope_of(const ReplayResult& result) {
  std::string text =
      counted(result.alerts, "alert") + " on a cluster of " + counted(result.nodes, "node") + "\n";
  if (result.made_up_nodes > 0)
    text +=
        "  only nodes named in alerts are known, so budget percentages refer to these; use --nodes "
        "to add all nodes\n";
  if (result.not_for_us > 0)
    text += "  ignored: " + counted(result.not_for_us, "alert") + " meant only for people\n";
  if (result.without_node > 0)
    text += "  ignored: " + counted(result.without_node, "alert") + " about unknown nodes\n";
  return text;
}

std::string row(const std::string& name, const std::string& count) {
  return "  " + padded(name, 24) + count + "\n";
}

std::string steps_of(const ReplaySummary& summary) {
  std::string text;
  for (const auto& [step, nodes] : summary.nodes_by_step)
    text += row(std::string(to_string(step)), counted(nodes, "node"));
  if (summary.most_out > 0) {
    text += row("peak out of service",
                counted(summary.most_out, "node") + ", at " + to_rfc3339(summary.most_out_at));
  }
  return text.empty() ? "" : "Steps that would have been taken:\n" + text;
}

std::string ends_of(const ReplaySummary& summary) {
  std::string text;
  for (const auto& [phase, count] : summary.ends) text += row(phase, counted(count, "remediation"));
  if (summary.still_open > 0) text += row("still open", counted(summary.still_open, "node"));
  return text.empty() ? "" : "Outcomes:\n" + text;
}

std::string waits_of(const ReplaySummary& summary) {
  std::string text;
  for (const auto& [rule, wait] : summary.waits) {
    text += "  " + padded(rule, 24) + counted(wait.nodes, "node") + ", at most " +
            span_of(wait.longest) + "\n";
  }
  return text.empty() ? "" : "Reasons for waiting:\n" + text;
}

Json event_json(const ReplayEvent& event) {
  Json json = {{"at", to_rfc3339_ms(event.at)},
               {"node", event.node},
               {"kind", std::string(to_string(event.kind))},
               {"text", event.text}};
  if (!event.rule.empty()) json["rule"] = event.rule;
  for (const Step step : event.steps) json["steps"].push_back(std::string(to_string(step)));
  return json;
}

Json summary_json(const ReplaySummary& summary) {
  Json json = {{"nodesRemediated", summary.remediated},
               {"nodesStillOpen", summary.still_open},
               {"mostNodesOut", summary.most_out},
               {"nodesByStep", Json::object()},
               {"waits", Json::object()},
               {"ends", summary.ends}};
  if (summary.most_out > 0) json["mostNodesOutAt"] = to_rfc3339_ms(summary.most_out_at);
  for (const auto& [step, nodes] : summary.nodes_by_step)
    json["nodesByStep"][std::string(to_string(step))] = nodes;
  for (const auto& [rule, wait] : summary.waits) {
    json["waits"][rule] = {{"nodes", wait.nodes}, {"longestSeconds", wait.longest.count() / 1000}};
  }
  return json;
}

}  // namespace

std::string replay_table(const ReplayResult& result) {
  std::size_t width = 4;
  for (const ReplayEvent& event : result.events) width = std::max(width, event.node.size());
  std::string text;
  for (const ReplayEvent& event : result.events) text += line_of(event, width);
  const ReplaySummary summary = summary_of(result);
  text += (text.empty() ? "" : "\n") + scope_of(result);
  return text + steps_of(summary) + ends_of(summary) + waits_of(summary);
}

std::string replay_json(const ReplayResult& result) {
  Json json = {{"from", to_rfc3339_ms(result.from)},
               {"to", to_rfc3339_ms(result.to)},
               {"nodes", result.nodes},
               {"nodesMadeUp", result.made_up_nodes},
               {"alerts", result.alerts},
               {"alertsNotForUs", result.not_for_us},
               {"alertsWithoutNode", result.without_node},
               {"events", Json::array()},
               {"summary", summary_json(summary_of(result))}};
  for (const ReplayEvent& event : result.events) json["events"].push_back(event_json(event));
  return dump_json(json);
}

}  // namespace gpuward::remediator
