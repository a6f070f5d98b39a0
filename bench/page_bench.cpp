// The time of the remediator's fleet page with 1,500 nodes, 200 of which have an open Remediation,
// and 2,000 closed ones: to the first byte, on a new connection each time, as a browser requests
// it; and the size of the page. Exit code 1 if a promise is broken: p99 at most 20 ms, 100 kB.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <vector>

#include "core/http/client/client.h"
#include "tests/pages/scene.h"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kRequests = 500;
constexpr auto kBetween = 10ms;  // so that several readings of the API server happen meanwhile
constexpr double kMostMs = 20;
constexpr double kMostKb = 100;

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

}  // namespace

int main() {
  const gpuward::pages::Scene scene({.nodes = 1500, .open = 200, .closed = 2000});
  gpuward::SystemClock clock;
  gpuward::http::CurlClient client;
  gpuward::http::ClientRequest request;
  request.url = scene.url();
  request.headers = {{"Accept-Encoding", "gzip"}};
  std::vector<double> times;
  double kb = 0;
  for (int i = 0; i < kRequests; ++i) {
    const auto begin = Clock::now();
    const auto answer = client.send(request);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!answer || answer->status != 200) {
      std::cerr << "no page: " << (answer ? "status" : answer.error().message) << "\n";
      return 1;
    }
    kb = static_cast<double>(answer->body.size()) / 1000;
    clock.sleep_for(kBetween, {});
  }
  const double p50 = quantile(times, 0.5), p99 = quantile(times, 0.99);
  std::printf(
      "fleet page, 1,500 nodes, 200 open, 2,000 closed: p50 %.1f ms, p99 %.1f ms (<= %.0f), "
      "%.1f kB on the wire (<= %.0f)\n",
      p50, p99, kMostMs, kb, kMostKb);
  return p99 <= kMostMs && kb <= kMostKb ? 0 : 1;
}
