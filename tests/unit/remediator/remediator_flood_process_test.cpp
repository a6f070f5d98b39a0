// The program with its shipped limits, while 2,000 connections attack each of its listeners.
#include <chrono>
#include <string>

#include "tests/support/hostile_clients.h"
#include "tests/support/quickest.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

class RemediatorFlood : public RemediatorProcess,
                        public testing::WithParamInterface<support::NamedAttack> {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    start_ready({"--mode=observe", "--web.health-address=127.0.0.1:0"});
    ASSERT_EQ(support::http_get(telemetry("/metrics")).status, 200);
    deliver(alert());
    memory_before_ = support::resident_mib(*process_);
  }

  std::string health(const std::string& target) {
    return "http://127.0.0.1:" + std::to_string(port_in("Health is served")) + target;
  }
  // A probe has to be answered within a second.
  template <typename Send>
  static void expect_soon(const Send& send, const std::string& what) {
    const auto ask = [&] { return support::longest_of_five(send); };
    EXPECT_LT(support::quickest_of(seconds(1), ask), seconds(1)) << what;
  }
  void expect_answers() {
    expect_soon([&] { return support::http_get(health("/healthz")); }, "liveness");
    expect_soon([&] { return support::http_get(health("/readyz")); }, "readiness");
    expect_soon([&] { return support::http_get(telemetry("/metrics")); }, "scrape");
    expect_soon([&] { return support::http_post(webhook(), alert(), credentials()); }, "alert");
    EXPECT_LT(support::resident_mib(*process_) - memory_before_, 16);
  }

  double memory_before_ = 0;
};

TEST_P(RemediatorFlood, OfTheWebhookDelaysNoAlert) {
  const support::HostileClients attack(port_in("Webhook is served"), GetParam().options);
  expect_answers();
}

INSTANTIATE_TEST_SUITE_P(Each, RemediatorFlood,
                         testing::ValuesIn(support::attacks_of({"Silent", "HalfAHead",
                                                                "NoBodyOfARefusedRequest"})),
                         support::name_of);

using RemediatorFloodOfOthers = RemediatorFlood;

TEST_P(RemediatorFloodOfOthers, OfTheTelemetryDelaysNoScrape) {
  const support::HostileClients attack(port_in("Telemetry is served"), GetParam().options);
  expect_answers();
}

TEST_P(RemediatorFloodOfOthers, OfTheHealthListenerDelaysNoProbe) {
  const support::HostileClients attack(port_in("Health is served"), GetParam().options);
  expect_answers();
}

INSTANTIATE_TEST_SUITE_P(Each, RemediatorFloodOfOthers,
                         testing::ValuesIn(support::attacks_of({"HalfAHead"})), support::name_of);

}  // namespace
}  // namespace gpuward::remediator
