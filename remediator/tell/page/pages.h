// The telemetry listener: /metrics (plain and gzip), /healthz, /readyz and the runbooks. It is
// separate from the webhook's listener, so that slow clients there do not delay a scrape. A
// separate listener can serve health too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "core/metrics/family.h"

namespace gpuward::remediator {

struct PageSources {
  std::function<metrics::Families()> families;            // Any thread may call it.
  std::function<std::optional<std::string>()> objection;  // Returns why the process is not ready.
};

// Returns the routes /healthz and /readyz.
[[nodiscard]] std::vector<http::Route> health_routes(const PageSources& sources);

// Returns all routes. Health and the runbooks need no credentials; `access` applies to /metrics.
[[nodiscard]] std::vector<http::Route> telemetry_routes(const PageSources& sources,
                                                        http::Access access);

}  // namespace gpuward::remediator
