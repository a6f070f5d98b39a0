#include "exporter/publish/web.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/html/page.h"
#include "core/metrics/text_format.h"
#include "core/runtime/clock.h"
#include "exporter/publish/node_page.h"

namespace gpuward::exporter {
namespace {

http::Response landing_page(const Store& store, const std::string& node,
                            const http::Request& request) {
  const auto now = lasting_clock().wall();
  return html::answer(request,
                      {.title = "GPUs of " + node + " - gpuward",
                       .program = "gpuward-exporter " GPUWARD_VERSION,
                       .nav = {{"", "Node"}, {"metrics", "Metrics"}, {"readyz", "Readiness"}},
                       .body = node_page(store.snapshot(), node, now)},
                      now);
}

http::Response metrics_page(Publisher& publisher, const http::Request& request) {
  const auto [body, is_packed] = publisher.for_scrape().choose(request.header("Accept-Encoding"));
  if (!body) return http::Response::text(503, "The metrics could not be rendered.\n");
  http::Response response;
  response.content_type = metrics::kContentType;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (is_packed) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = body;
  return response;
}

}  // namespace

http::Response readiness(const Health& health) {
  std::string degraded;
  const auto add = [&](std::string_view part, const std::optional<std::string>& fault) {
    if (fault) degraded.append(part).append(": ").append(*fault).append("\n");
  };
  add("kernel log", health.kernel_log_fault);
  add("GPU inventory", health.inventory_fault);
  if (degraded.empty()) return http::Response::text(200, "ready\n");
  return http::Response::text(503, "degraded\n" + degraded);
}

std::vector<http::Route> health_routes(const Store& store) {
  const auto health = [](const http::Request&) { return http::Response::text(200, "ok\n"); };
  const auto ready = [&store](const http::Request&) { return readiness(store.health()); };
  return {{"/healthz", {"GET"}, health}, {"/readyz", {"GET"}, ready}};
}

std::vector<http::Route> web_routes(Publisher& publisher, const Store& store,
                                    const std::string& node, http::Access access) {
  const auto metrics = [&publisher](const http::Request& request) {
    return metrics_page(publisher, request);
  };
  const auto landing = [&store, node](const http::Request& request) {
    return landing_page(store, node, request);
  };
  std::vector<http::Route> routes = health_routes(store);
  routes.push_back({"/metrics", {"GET"}, metrics, access});
  routes.push_back({.path = "/",
                    .methods = {"GET"},
                    .handler = landing,
                    .access = access,
                    .audience = http::Audience::kBrowsers});
  std::ranges::move(html::asset_routes(), std::back_inserter(routes));
  return routes;
}

}  // namespace gpuward::exporter
