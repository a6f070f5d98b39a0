// The program with its shipped limits, attacked by 2,000 connections or more.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/support/hostile_clients.h"
#include "tests/support/http_get.h"
#include "tests/support/quickest.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

class ExporterFlood : public testing::TestWithParam<support::NamedAttack> {
 protected:
  void SetUp() override {
    exporter.start({"--web.health-address=127.0.0.1:0"});
    ASSERT_TRUE(exporter.says("Serving health endpoints"));
    const auto is_ready = [&] { return support::http_get(health("/readyz")).status == 200; };
    ASSERT_TRUE(support::wait_until(is_ready, "to be ready"));
    ASSERT_EQ(exporter.get("/metrics").status, 200);
    memory_before_ = support::resident_mib(exporter.process());
  }

  std::string health(const std::string& path) {
    return "http://127.0.0.1:" + std::to_string(health_port()) + path;
  }
  int health_port() {
    const std::string log = exporter.process().error_output();
    std::smatch found;
    const std::regex line("Serving health endpoints[^\n]*port=([0-9]+)");
    return std::regex_search(log, found, line) ? std::stoi(found[1].str()) : 0;
  }
  // A probe has to be answered within a second.
  void expect_answers(const std::string& url) {
    const auto ask = [&] {
      return support::longest_of_five([&] { return support::http_get(url); });
    };
    EXPECT_LT(support::quickest_of(1s, ask), 1s) << url;
    EXPECT_LT(support::resident_mib(exporter.process()) - memory_before_, 16);
  }
  void expect_probes() {
    expect_answers(health("/healthz"));
    expect_answers(health("/readyz"));
  }

  RunningExporter exporter;
  double memory_before_ = 0;
};

TEST_P(ExporterFlood, AnswersProbesAndScrapesWhenItsPagesAreAttacked) {
  const support::HostileClients attack(exporter.port(), GetParam().options);

  expect_probes();
  expect_answers(exporter.url("/metrics"));
}

INSTANTIATE_TEST_SUITE_P(Each, ExporterFlood, testing::ValuesIn(support::attacks_of()),
                         support::name_of);

INSTANTIATE_TEST_SUITE_P(Brief, ExporterFlood, testing::Values(support::brief_holds()),
                         support::name_of);

using ExporterHealthFlood = ExporterFlood;

TEST_P(ExporterHealthFlood, DelaysNoProbe) {
  const support::HostileClients attack(health_port(), GetParam().options);

  expect_probes();
}

INSTANTIATE_TEST_SUITE_P(Each, ExporterHealthFlood,
                         testing::ValuesIn(support::attacks_of({"Silent", "HalfAHead",
                                                                "ATricklingHead"})),
                         support::name_of);

}  // namespace
}  // namespace gpuward::exporter
