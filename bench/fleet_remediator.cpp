#include "bench/fleet_remediator.h"

#include <poll.h>

#include <chrono>
#include <deque>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/wait.h"

namespace gpuward::bench {
namespace {

using std::chrono::seconds;

constexpr const char* kPolicy =
    "severities:\n"
    "  isolate: [taint, cordon]\n"
    "  reboot: [taint, cordon, drain: {deadline: 1h}]\n"
    "budgets:\n"
    "  cluster: {percent: 100}\n"
    "  pool: {percent: 100}\n"
    "  zone: {percent: 100}\n"
    "  taint: {percent: 100}\n"
    "  cordon: {percent: 100}\n"
    "  storm: {nodes: 2, percent: 100, window: 1m}\n"
    "  breaker: {percent: 100, window: 1m}\n"
    "evictions: {per_second: 10000, burst: 1000, most_in_flight: 32}\n";

// A report with severity reboot, measured now, in the boot of all nodes.
std::string report() {
  const auto since_epoch = lasting_clock().wall().time_since_epoch();
  const auto now = std::chrono::duration<double>(since_epoch).count();
  const auto sample = [&](const char* what, const std::string& value) {
    return Json{{"metric", {{"what", what}, {"boot_id", kBootOfAll}}},
                {"value", Json::array({now, value})}};
  };
  return dump_json(
      {{"status", "success"},
       {"data",
        {{"resultType", "vector"},
         {"result", Json::array({sample("measured_at", std::to_string(now)),
                                 sample("severity", "3"), sample("confirmed_severity", "3"),
                                 sample("kernel_log_up", "1"), sample("boot", "1")})}}}});
}

std::string notification(std::size_t node, const std::string& severity) {
  const std::string now = to_rfc3339_ms(lasting_clock().wall());
  const Json alert = {
      {"status", "firing"},
      {"labels", {{"alertname", "Bad"}, {"node", node_name(node)}, {"remediation", severity}}},
      {"annotations", Json::object()},
      {"startsAt", now},
      {"endsAt", "0001-01-01T00:00:00Z"},
      {"fingerprint", "ab12"}};
  return dump_json({{"version", "4"}, {"truncatedAlerts", 0}, {"alerts", Json::array({alert})}});
}

// Milliseconds until the answer, and whether it was a 200.
std::pair<double, bool> post(http::CurlClient& client, const std::string& url,
                             const std::string& body) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = url;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = client.send(request);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (!answer) throw std::runtime_error("the webhook: " + answer.error().message);
  if (answer->status != 200 && answer->status != 503)
    throw std::runtime_error("the webhook: " + answer->body);
  return {took.count(), answer->status == 200};
}

}  // namespace

FleetRemediator::FleetRemediator(FleetCluster& cluster, Replica replica)
    : prometheus_("/api/v1/query", [] { return report(); }) {
  write_policy("cordon");
  cluster.hands().patch("/api/v1/namespaces/gpuward/configmaps/gpuward-remediator-switch",
                        {{"data", {{"stop", "false"}}}});
  auto process = support::Process::spawn(
      {.argv = {GPUWARD_BIN_DIR "/gpuward-remediator", "--web.listen-address=127.0.0.1:0",
                "--web.telemetry-address=127.0.0.1:0", "--web.insecure",
                "--config.file=" + (folder_ / "policy.yaml").string(),
                "--prometheus.url=" + prometheus_.url(), "--audit.path=/dev/null",
                "--kubeconfig=" + cluster.hands().kubeconfig(), "--log.format=json"}});
  if (!process) throw std::runtime_error(process.error().message);
  process_ = std::move(*process);
  wait_for("start", [&] {
    return port_in("Webhook is served") != 0 && port_in("Telemetry is served") != 0;
  });
  telemetry_ = "http://127.0.0.1:" + std::to_string(port_in("Telemetry is served"));
  if (replica == Replica::kLeader) wait_for("lead", [&] { return leads(); });
  // It is ready when it has read the whole cluster; it accepts nothing without the ledger.
  wait_for("get ready", [&] { return get("/readyz").status == 200; });
  wait_for("find the ledger", [&] {
    return cluster.hands().has("/api/v1/namespaces/gpuward/configmaps/gpuward-ledger");
  });
}

void FleetRemediator::wait_until_it_leads() const {
  wait_for("lead", [&] { return leads() && get("/readyz").status == 200; });
}

bool FleetRemediator::leads() const { return log().contains("This replica leads"); }

void FleetRemediator::wait_for(const std::string& what, const std::function<bool()>& is_so) const {
  const bool is_over =
      support::poll_until([&] { return !process_->running() || is_so(); }, seconds(60));
  if (!is_over || !process_->running())
    throw std::runtime_error("it does not " + what + ": " + log());
}

void FleetRemediator::write_policy(const std::string& mode) const {
  const auto written =
      write_file_atomically(folder_ / "policy.yaml", "mode: " + mode + "\n" + kPolicy);
  if (!written) throw std::runtime_error(written.error().message);
}

void FleetRemediator::let_drain() const { write_policy("full"); }

FleetRemediator::Told FleetRemediator::tell(std::size_t first, std::size_t nodes,
                                            const std::string& severity,
                                            std::size_t connections) const {
  const std::string url =
      "http://127.0.0.1:" + std::to_string(port_in("Webhook is served")) + "/api/v1/alerts";
  std::deque<http::CurlClient> clients(connections);
  std::mutex mutex;
  Told told;
  for_each_from(connections, nodes, [&](std::size_t thread, std::size_t i) {
    const std::string body = notification(first + i, severity);
    for (bool is_taken = false; !is_taken;) {
      const auto [took_ms, is_ok] = post(clients[thread], url, body);
      is_taken = is_ok;
      const std::lock_guard lock(mutex);
      told.answers_ms.push_back(took_ms);
      if (!is_ok) ++told.sent_again;
    }
  });
  return told;
}

void FleetRemediator::wait_for_records(std::size_t least) const {
  static const std::regex kCount(
      "\ngpuward_remediator_remediations\\{phase=\"([A-Za-z]+)\"[^}]*\\} ([0-9]+)");
  const auto are_recorded = [&] {
    const std::string page = get("/metrics").body;
    std::size_t pending = 0, all = 0;
    for (std::sregex_iterator it(page.begin(), page.end(), kCount), end; it != end; ++it) {
      const std::size_t number = std::stoul((*it)[2]);
      all += number;
      if ((*it)[1] == "Pending") pending += number;
    }
    return pending == 0 && all >= least;
  };
  const seconds limit(300 + least / 10);
  if (!support::poll_until(are_recorded, limit)) throw std::runtime_error("not recorded");
}

http::ClientResponse FleetRemediator::get(const std::string& path) const {
  return support::http_get(telemetry_ + path);
}

int FleetRemediator::port_in(const std::string& message) const {
  const std::string text = log();
  const std::regex line(message + "[^\n]*\"port\":\"?([0-9]+)");
  std::smatch match;
  return std::regex_search(text, match, line) ? std::stoi(match[1].str()) : 0;
}

}  // namespace gpuward::bench
