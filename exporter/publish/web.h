// The exporter's pages: /metrics, /healthz, /readyz and the page of this node (node_page). Metrics
// and the page ask for the credentials of --web.config.file where it names any; health stays open
// for the kubelet. Health is also served by a listener of its own.
#pragma once

#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "exporter/publish/publisher.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// What /readyz says: 200 and "ready", or 503 and a line for each thing that is not as it should be.
[[nodiscard]] http::Response readiness(const Health& health);

// /healthz and /readyz. `store` must outlive the server.
[[nodiscard]] std::vector<http::Route> health_routes(const Store& store);

// Health among them. `publisher` and `store` must outlive the server. `node` is its name.
// `access` is that of /metrics and of the node's page.
[[nodiscard]] std::vector<http::Route> web_routes(Publisher& publisher, const Store& store,
                                                  const std::string& node, http::Access access);

}  // namespace gpuward::exporter
