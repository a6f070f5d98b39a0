// The dependencies of the polled sources, and the function that makes them (inbox/sources/all.cpp).
// config/evidence_sources.cpp adds the webhook, which is not polled. The composition root fills in
// the values from the flags.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/node_announcements.h"
#include "remediator/cluster/node_conditions.h"
#include "remediator/cluster/node_lines.h"
#include "remediator/cluster/node_signs.h"
#include "remediator/inbox/sources/loki_source.h"
#include "remediator/inbox/sources/prometheus_source.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The arguments must outlive the sources.
struct SourceParts {
  const CurrentPolicy& policy;
  const KnownEvidence& known;
  const NodeConditions& nodes;
  const NodeAnnouncements& announcements;
  const NodeLines& node_lines;
  Clock& clock;
  // nullopt: gpuward does not read alerts from Prometheus.
  std::optional<PrometheusSourceOptions> prometheus;
  http::Client* prometheus_client = nullptr;
  std::optional<LokiSettings> loki;  // nullopt: gpuward reads no logs.
  http::Client* loki_client = nullptr;
  const NodeSigns* signs = nullptr;  // Null: gpuward does not look for silent nodes.
  ScrapeStates* scrapes = nullptr;   // Null: no Prometheus reports scrapes.
  Triage* triage = nullptr;          // Null: no language model is configured.
  kube::Api& api;                    // Writes nothing while this replica is not the leader.
};

// Returns the sources that are switched on.
[[nodiscard]] std::vector<std::unique_ptr<Source>> make_sources(const SourceParts& parts);

}  // namespace gpuward::remediator
