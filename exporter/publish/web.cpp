#include "exporter/publish/web.h"

#include <string_view>

#include "core/metrics/text_format.h"

namespace gpuward::exporter {
namespace {

constexpr std::string_view kLandingPage =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>gpuward-exporter</title></head>\n"
    "<body><h1>gpuward-exporter</h1>\n<p>Version " GPUWARD_VERSION
    ". What the kernel log and the driver say about this node's GPUs.</p>\n"
    "<ul><li><a href=\"/metrics\">Metrics</a></li>\n<li><a href=\"/readyz\">Readiness</a></li>\n"
    "<li><a href=\"/healthz\">Health</a></li></ul>\n</body></html>\n";

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

std::vector<http::Route> web_routes(Publisher& publisher, const Store& store, http::Access access) {
  const auto metrics = [&publisher](const http::Request& request) {
    return metrics_page(publisher, request);
  };
  const auto landing = [](const http::Request&) {
    return http::Response::text(200, std::string(kLandingPage), "text/html; charset=utf-8");
  };
  const auto health = [](const http::Request&) { return http::Response::text(200, "ok\n"); };
  const auto ready = [&store](const http::Request&) { return readiness(store.health()); };
  return {{"/metrics", {"GET"}, metrics, access},
          {"/", {"GET"}, landing, access},
          {"/healthz", {"GET"}, health},
          {"/readyz", {"GET"}, ready}};
}

}  // namespace gpuward::exporter
