#include <array>

#include "remediator/inbox/sources/announcement_source.h"
#include "remediator/inbox/sources/condition_source.h"
#include "remediator/inbox/sources/job_nodes.h"
#include "remediator/inbox/sources/last_kernel_lines.h"
#include "remediator/inbox/sources/loki_source.h"
#include "remediator/inbox/sources/monitor_event.h"
#include "remediator/inbox/sources/node_line_source.h"
#include "remediator/inbox/sources/prometheus_source.h"
#include "remediator/inbox/sources/silent_source.h"
#include "remediator/inbox/sources/source_parts.h"
#include "remediator/inbox/sources/triage_source.h"

namespace gpuward::remediator {
namespace {

std::unique_ptr<Source> make_prometheus(const SourceParts& parts) {
  if (!parts.prometheus) return nullptr;
  return std::make_unique<PrometheusSource>(*parts.prometheus, *parts.prometheus_client,
                                            parts.policy, parts.known, parts.clock);
}

// Finds nothing if the policy has no such rules; the next policy may have some.
std::unique_ptr<Source> make_condition(const SourceParts& parts) {
  return std::make_unique<ConditionSource>(parts.policy, parts.nodes, parts.known, parts.clock);
}

std::unique_ptr<Source> make_announcement(const SourceParts& parts) {
  return std::make_unique<AnnouncementSource>(parts.policy, parts.announcements, parts.known,
                                              parts.clock);
}

// Finds nothing new if the policy has no such section; the next policy may have one.
std::unique_ptr<Source> make_silent(const SourceParts& parts) {
  if (parts.signs == nullptr) return nullptr;
  std::vector<std::unique_ptr<LastKnown>> last_known;
  if (parts.loki) {
    last_known.push_back(std::make_unique<LastKernelLines>(parts.loki->place, *parts.loki_client,
                                                           parts.policy, parts.clock));
  }
  last_known.push_back(
      std::make_unique<JobNodes>(parts.api, *parts.signs, parts.known, parts.clock));
  return std::make_unique<SilentSource>(parts.policy, *parts.signs, parts.known, parts.scrapes,
                                        parts.clock, std::move(last_known));
}

std::unique_ptr<Source> make_loki(const SourceParts& parts) {
  if (!parts.loki) return nullptr;
  return std::make_unique<LokiSource>(*parts.loki, *parts.loki_client, parts.api, parts.policy,
                                      parts.known, parts.clock);
}

// The next policy may switch it on.
std::unique_ptr<Source> make_triage(const SourceParts& parts) {
  if (parts.triage == nullptr) return nullptr;
  return std::make_unique<TriageSource>(*parts.triage, parts.policy, parts.known, parts.clock);
}

std::unique_ptr<Source> make_monitor_events(const SourceParts& parts) {
  return std::make_unique<MonitorEventSource>(parts.policy, parts.known, parts.clock);
}

std::unique_ptr<Source> make_node_lines(const SourceParts& parts) {
  if (parts.triage == nullptr) return nullptr;
  return std::make_unique<NodeLineSource>(parts.node_lines, *parts.triage, parts.policy,
                                          parts.clock);
}

// Null if the source is switched off.
constexpr std::array kSources = {make_prometheus, make_condition,      make_silent,
                                 make_loki,       make_monitor_events, make_node_lines,
                                 make_triage,     make_announcement};

}  // namespace

std::vector<std::unique_ptr<Source>> make_sources(const SourceParts& parts) {
  std::vector<std::unique_ptr<Source>> sources;
  for (const auto make : kSources) {
    if (auto source = make(parts)) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace gpuward::remediator
