// The exporter's pages: /metrics, /healthz, /readyz and the page of this node (node_page). Metrics
// and the page require the credentials of --web.config.file if it has any; health stays open for
// the kubelet. A separate listener can serve health too.
#pragma once

#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "exporter/publish/publisher.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Returns the response of /readyz: 200 and "ready", or 503 and a line for each fault.
[[nodiscard]] http::Response readiness(const Health& health);

// Returns /healthz and /readyz. `store` must outlive the server.
[[nodiscard]] std::vector<http::Route> health_routes(const Store& store);

// Returns all routes, including health. `publisher` and `store` must outlive the server. `node` is
// the node's name. `access` applies to /metrics and the node's page.
[[nodiscard]] std::vector<http::Route> web_routes(Publisher& publisher, const Store& store,
                                                  const std::string& node, http::Access access);

}  // namespace gpuward::exporter
