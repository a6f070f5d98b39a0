#include "remediator/tell/page/pages.h"

#include <utility>

#include "core/metrics/exposition.h"
#include "core/metrics/text_format.h"
#include "remediator/tell/page/runbooks.h"

namespace gpuward::remediator {
namespace {

http::Response serve_metrics(const PageSources& sources, const http::Request& request) {
  const auto families = sources.families();
  const auto exposition = metrics::render(families);
  const auto choice = exposition.choose(request.header("Accept-Encoding"));
  http::Response response;
  response.content_type = std::string(metrics::kContentType);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (choice.is_packed) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = choice.body;
  return response;
}

http::Response serve_readiness(const PageSources& sources) {
  const auto objection = sources.objection();
  if (objection) return http::Response::text(503, "not ready: " + *objection + "\n");
  return http::Response::text(200, "ready\n");
}

}  // namespace

std::vector<http::Route> health_routes(const PageSources& sources) {
  const auto readiness = [sources](const http::Request&) { return serve_readiness(sources); };
  const auto health = [](const http::Request&) { return http::Response::text(200, "ok\n"); };
  return {{.path = "/healthz", .methods = {"GET"}, .handler = health},
          {.path = "/readyz", .methods = {"GET"}, .handler = readiness}};
}

std::vector<http::Route> telemetry_routes(const PageSources& sources, http::Access access) {
  const auto metrics_page = [sources](const http::Request& request) {
    return serve_metrics(sources, request);
  };
  auto routes = health_routes(sources);
  routes.push_back(
      {.path = "/metrics", .methods = {"GET"}, .handler = metrics_page, .access = access});
  routes.push_back(runbook_route());
  return routes;
}

}  // namespace gpuward::remediator
