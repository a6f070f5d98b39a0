// The memory that the real program needs for requests to its webhook: the largest real load, and
// bodies that are made to cost as much as possible. The pod's limit is 256 MiB.
#include <poll.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <thread>

#include "core/http/client/client.h"
#include "core/http/server/server.h"
#include "tests/alerts/alert_rules.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

constexpr double kMostMb = 128;
constexpr std::size_t kSenders = 32;
constexpr std::size_t kCostlySenders = 6;
constexpr std::size_t kAlerts = 10'000;  // the most that the webhook takes at once

std::string text(const char* format, std::size_t number) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, number);
  return buffer.data();
}

std::string node_name(std::size_t number) {
  return text("gpu-%04zu.eu-central-1.compute.internal", number);
}

// The rules about a node: an Alertmanager sends all of them for a node that has every fault.
std::vector<alerts::AlertRule> rules_about_nodes() {
  auto rules = alerts::load_alert_rules();
  std::erase_if(rules, [](const alerts::AlertRule& rule) {
    return rule.label("remediation").empty() && rule.label("hidden_by").empty();
  });
  return rules;
}

// The alert that Prometheus makes of the rule. The templates of the annotations are not expanded:
// the result would be about as long.
Json alert_of(const alerts::AlertRule& rule, std::size_t number, const std::string& node,
              const std::string& starts_at) {
  Json labels = {{"alertname", rule.name},
                 {"check", "xid"},
                 {"code", "79"},
                 {"instance", "10.112.46.107:10980"},
                 {"job", "gpuward-exporter"},
                 {"node", node},
                 {"pci_bus_id", "00000000:4E:00.0"},
                 {"prometheus", "monitoring/kube-prometheus-stack-prometheus"}};
  for (const auto& [key, value] : rule.labels) labels[key] = value;
  return {
      {"status", "firing"},
      {"labels", std::move(labels)},
      {"annotations", rule.annotations},
      {"startsAt", starts_at},
      {"endsAt", "0001-01-01T00:00:00Z"},
      {"generatorURL", "http://prometheus.example.com:9090/graph?g0.tab=1&g0.expr=" + rule.expr},
      {"fingerprint", text("%016zx", number)}};
}

std::string list_of_alerts(const std::string& starts_at) {
  const auto rules = rules_about_nodes();
  std::string list = "[";
  for (std::size_t i = 0; i < kAlerts; ++i) {
    if (i != 0) list += ',';
    list += dump_json(alert_of(rules[i % rules.size()], i, node_name(i / rules.size()), starts_at));
  }
  return list + "]";
}

std::string notification_of(const std::string& list) {
  return R"({"receiver":"gpuward","status":"firing","alerts":)" + list +
         R"(,"groupLabels":{},"commonLabels":{},"commonAnnotations":{},)"
         R"("externalURL":"http://alertmanager.example.com:9093","version":"4",)"
         R"("groupKey":"{}:{}","truncatedAlerts":0})";
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string all;
  while (all.size() + piece.size() < bytes) all += piece;
  return all;
}

class WebhookMemory : public RemediatorProcess {
 protected:
  // The peak memory of the process, in megabytes.
  double peak_mb() {
    std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
    for (std::string word; status >> word;) {
      double kibibytes = 0;
      if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
    }
    ADD_FAILURE() << "/proc does not tell the memory of the process";
    return 0;
  }
  void expect_little_memory() {
    const double most = peak_mb();
    RecordProperty("peak_mb", std::to_string(most));
    EXPECT_LT(most, kMostMb);
  }
  http::ClientRequest request_with(std::string body) {
    http::ClientRequest request;
    request.method = "POST";
    request.url = webhook();
    request.headers = credentials();
    request.body = std::move(body);
    request.timeout = support::kGenerousRequest;
    return request;
  }
  static http::ClientResponse answer_to(const http::ClientRequest& request) {
    http::CurlClient client;
    auto answer = client.send(request);
    return answer ? *std::move(answer) : http::ClientResponse{0, {}, answer.error().message};
  }
  // Sends the request until the program accepts it, as Alertmanager does: half a second after a 5xx
  // or no answer. A busy machine may also be too slow to send it within the read time-out (408).
  static bool is_taken(const http::ClientRequest& request) {
    const auto try_once = [&request] {
      const auto answer = answer_to(request);
      if (answer.status == 200) return true;
      const bool may_try_again = answer.status == 0 || answer.status == 408 || answer.status >= 500;
      EXPECT_TRUE(may_try_again) << answer.status << answer.body;
      ::poll(nullptr, 0, 500);
      return false;
    };
    return support::poll_until(try_once, 2 * support::kGenerous);
  }
  // Sends the request until the program refuses it with a 400.
  static bool is_refused(const http::ClientRequest& request) {
    return support::poll_until([&request] { return answer_to(request).status == 400; });
  }
};

void run_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work, i);
}

TEST_F(WebhookMemory, HoldsTheLargestLoadThatIsReal) {
  const std::size_t nodes = kAlerts / rules_about_nodes().size() + 1;
  for (std::size_t i = 0; i < nodes; ++i)
    server_->kube().create("/api/v1/nodes", fakes::ready_node(node_name(i)));
  start_ready({"--mode=observe"});
  const auto request = request_with(notification_of(list_of_alerts(to_rfc3339_ms(clock_.wall()))));

  std::atomic<std::size_t> taken{0};
  run_in_parallel(kSenders, [&](std::size_t) { taken += is_taken(request) ? 1 : 0; });

  EXPECT_EQ(taken, kSenders);
  expect_little_memory();
}

// A small body makes the webhook read all alerts that fire.
TEST_F(WebhookMemory, ReadsTheAlertsThatWereCutOffForOneNotificationAtATime) {
  std::string list = list_of_alerts(to_rfc3339_ms(clock_.wall()));
  const auto answer = http::Response::json(200, std::move(list));
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  auto alertmanager = http::Server::start(
      options, {{"/api/v2/alerts", {"GET"}, [&answer](const http::Request&) { return answer; }}});
  ASSERT_TRUE(alertmanager) << alertmanager.error().message;
  start_ready({"--mode=cordon", "--alertmanager.url=http://127.0.0.1:" +
                                    std::to_string((*alertmanager)->ports().front())});
  const auto request = request_with(notification(firing(), 1));

  std::array<int, kSenders> statuses{};
  run_in_parallel(kSenders, [&](std::size_t i) { statuses[i] = answer_to(request).status; });

  for (const int status : statuses) EXPECT_TRUE(status == 200 || status == 503) << status;
  expect_little_memory();
}

struct Costly {
  const char* name;
  std::string (*body)();
};

void PrintTo(const Costly& costly, std::ostream* out) { *out << costly.name; }

class WebhookMemoryOfCostlyBodies : public WebhookMemory,
                                    public ::testing::WithParamInterface<Costly> {};

TEST_P(WebhookMemoryOfCostlyBodies, StaysFlatAndATrueAlertIsTaken) {
  start_ready();
  const auto request = request_with(GetParam().body());

  std::atomic<std::size_t> refused{0};
  {
    const std::jthread senders([&] {
      run_in_parallel(kCostlySenders, [&](std::size_t) { refused += is_refused(request) ? 1 : 0; });
    });
    deliver(alert());
  }

  EXPECT_EQ(refused, kCostlySenders);
  expect_little_memory();
  EXPECT_TRUE(support::wait_until([this] { return is_tainted(); }, "the taint"));
}

constexpr std::size_t kCostly = 5'662'310;  // 5.4 MiB
constexpr std::size_t kMost = 16U << 20U;

std::string in_alerts(const std::string& elements) {
  return R"({"version":"3","alerts":[)" + elements + "{}]}";
}
std::string in_labels(const std::string& value) {
  return R"({"version":"3","alerts":[{"labels":)" + value + "}]}";
}

std::string many_labels() {
  std::string labels;
  for (std::size_t i = 0; labels.size() < kCostly; ++i) labels += text("\"%zx\":\"\",", i);
  return in_labels("{" + labels + "\"a\":0}");
}
std::string members_of_members() {
  std::string members;
  for (std::size_t i = 0; i < 1'000; ++i) members += text("\"%03zx\":{},", i);
  members.back() = '}';
  std::string element;
  for (std::size_t i = 0; i < 1'000; ++i) element += text("\"%03zx\":{", i) + members + ",";
  element.back() = '}';
  return R"({"version":"3","alerts":[{)" + element + "]}";
}
std::string one_value(const std::string& value) { return R"({"version":"3","x":)" + value + "}"; }

INSTANTIATE_TEST_SUITE_P(
    Kinds, WebhookMemoryOfCostlyBodies,
    ::testing::Values(
        Costly{"EmptyAlerts", [] { return in_alerts(repeated("{},", kCostly)); }},
        Costly{"ListsInAlerts", [] { return in_alerts(repeated("[],", kCostly)); }},
        Costly{"ListsInLabels", [] { return in_labels("[" + repeated("[],", kCostly) + "0]"); }},
        Costly{"ManyLabels", many_labels}, Costly{"MembersOfMembers", members_of_members},
        Costly{"OneText", [] { return one_value("\"" + repeated("a", kMost - 40) + "\""); }},
        Costly{"OneNumber", [] { return one_value(repeated("1", kMost - 40)); }},
        Costly{"Whitespace", [] { return one_value(repeated(" ", kMost - 40) + "0"); }}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace gpuward::remediator
