// What the sources are made of that are asked in turns, and the table of all of them
// (sources/all.cpp). The webhook is not one of them: config/evidence_sources.cpp has it beside
// these. Made by the composition root, where what only the flags know is filled in.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/loki_source.h"
#include "remediator/sources/node_announcements.h"
#include "remediator/sources/node_conditions.h"
#include "remediator/sources/node_lines.h"
#include "remediator/sources/node_signs.h"
#include "remediator/sources/prometheus_source.h"
#include "remediator/sources/source.h"
#include "remediator/triage/triage.h"

namespace gpuward::remediator {

// All must outlive the sources.
struct SourceParts {
  const CurrentPolicy& policy;
  const KnownEvidence& known;
  const NodeConditions& nodes;
  const NodeAnnouncements& announcements;
  const NodeLines& node_lines;
  Clock& clock;
  std::optional<PrometheusSourceOptions> prometheus;  // absent: its alerts are not read
  http::Client* prometheus_client = nullptr;
  std::optional<LokiSettings> loki;  // absent: no logs are read
  http::Client* loki_client = nullptr;
  const NodeSigns* signs = nullptr;  // null: nobody looks for silent nodes
  ScrapeStates* scrapes = nullptr;   // null: no Prometheus tells of them
  Triage* triage = nullptr;          // null: no model is asked
  kube::Api& api;                    // writes nothing while this replica does not lead
};

// Those that are switched on.
[[nodiscard]] std::vector<std::unique_ptr<Source>> make_sources(const SourceParts& parts);

}  // namespace gpuward::remediator
