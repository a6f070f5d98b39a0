// The parts of the polled sources, and the table of all of them (sources/all.cpp). The webhook is
// not one of them: config/evidence_sources.cpp adds it. Made by the composition root, which fills
// in the values from the flags.
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
  std::optional<PrometheusSourceOptions> prometheus;  // absent: gpuward does not read its alerts
  http::Client* prometheus_client = nullptr;
  std::optional<LokiSettings> loki;  // absent: gpuward reads no logs
  http::Client* loki_client = nullptr;
  const NodeSigns* signs = nullptr;  // null: no search for silent nodes
  ScrapeStates* scrapes = nullptr;   // null: no Prometheus reports scrapes
  Triage* triage = nullptr;          // null: no language model
  kube::Api& api;                    // writes nothing while this replica is not the leader
};

// Returns the sources that are switched on.
[[nodiscard]] std::vector<std::unique_ptr<Source>> make_sources(const SourceParts& parts);

}  // namespace gpuward::remediator
