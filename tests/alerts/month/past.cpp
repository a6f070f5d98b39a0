#include "tests/alerts/month/past.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"

namespace gpuward::alerts {
namespace {

constexpr std::size_t kSeriesInARequest = 500;
constexpr int kMomentsInAQuery = 10'000;  // Prometheus answers at most 11,000

http::ClientResponse post(const std::string& url, std::string body, support::HeaderList headers) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = url;
  request.headers = std::move(headers);
  request.body = std::move(body);
  request.timeout = std::chrono::minutes(5);
  request.max_response_bytes = 1U << 30U;
  return support::http_send(std::move(request));
}

std::string escaped(const std::string& text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    out += '%';
    out += kDigits[byte / 16];
    out += kDigits[byte % 16];
  }
  return out;
}

}  // namespace

Past::Past() : address_("127.0.0.1:" + std::to_string(support::free_port())) {
  // The whole month stays in the head block, which accepts samples in any order then.
  auto process = support::Process::spawn(
      {.argv = {"prometheus", "--config.file=" + folder_.write("prometheus.yaml", "{}").string(),
                "--storage.tsdb.path=" + (folder_ / "data").string(),
                "--web.listen-address=" + address_, "--web.enable-remote-write-receiver",
                "--storage.tsdb.min-block-duration=200d", "--storage.tsdb.max-block-duration=200d",
                "--storage.tsdb.retention.time=1000d", "--query.max-samples=500000000",
                "--query.timeout=10m",
                "--query.lookback-delta=" + std::to_string(kSampleHolds.count()) + "s"}});
  if (!process) throw std::runtime_error(process.error().message);
  process_ = *std::move(process);
  const bool is_ready = support::poll_until(
      [&] { return support::http_get("http://" + address_ + "/-/ready").status == 200; });
  if (!is_ready) throw std::runtime_error("Prometheus is not ready: " + process_->error_output());
}

void Past::write(const std::vector<Series>& series) const {
  for (std::size_t from = 0; from < series.size(); from += kSeriesInARequest) {
    const std::size_t count = std::min(kSeriesInARequest, series.size() - from);
    const auto answer = post("http://" + address_ + "/api/v1/write",
                             remote_write_body(std::span(series).subspan(from, count)),
                             {{"Content-Type", "application/x-protobuf"},
                              {"Content-Encoding", "snappy"},
                              {"X-Prometheus-Remote-Write-Version", "0.1.0"}});
    if (answer.status / 100 != 2) throw std::runtime_error("not written: " + answer.body);
  }
}

std::vector<Past::Result> Past::ask(const std::string& expr, seconds step, seconds end) const {
  std::map<Labels, std::vector<Sample>> samples;
  for (seconds from{0}; from < end; from += step * kMomentsInAQuery) {
    const seconds last = std::min(from + step * (kMomentsInAQuery - 1), end - seconds(1));
    const auto answer =
        post("http://" + address_ + "/api/v1/query_range",
             "query=" + escaped(expr) + "&start=" + std::to_string((kEpoch + from).count()) +
                 "&end=" + std::to_string((kEpoch + last).count()) +
                 "&step=" + std::to_string(step.count()),
             {{"Content-Type", "application/x-www-form-urlencoded"}});
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    if (answer.status != 200 || json.is_discarded()) {
      throw std::runtime_error(expr + ": " + answer.body.substr(0, 1000));
    }
    for (const auto& one : json["data"]["result"]) {
      auto& found = samples[one["metric"].get<Labels>()];
      for (const auto& value : one["values"]) {
        found.push_back({seconds(value[0].get<std::int64_t>()) - kEpoch,
                         std::stod(value[1].get<std::string>())});
      }
    }
  }
  std::vector<Result> out;
  for (auto& [labels, values] : samples) out.push_back({labels, std::move(values)});
  return out;
}

}  // namespace gpuward::alerts
