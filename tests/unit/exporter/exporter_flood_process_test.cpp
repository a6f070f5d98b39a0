// The program with its shipped limits, attacked by 2,000 connections.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/hostile_clients.h"
#include "tests/support/http_get.h"
#include "tests/support/quickest.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

class ExporterFlood : public testing::TestWithParam<support::NamedAttack> {
 protected:
  void SetUp() override {
    exporter.start();
    ASSERT_EQ(exporter.get("/metrics").status, 200);
  }

  // Within the second that a probe has.
  void expect_answers(const std::string& url) {
    const auto ask = [&] {
      return support::longest_of_five([&] { return support::http_get(url); });
    };
    EXPECT_LT(support::quickest_of(1s, ask), 1s) << url;
  }

  RunningExporter exporter;
};

std::string name_of(const testing::TestParamInfo<support::NamedAttack>& info) {
  const std::string addresses = info.param.options.addresses == 1 ? "FromOne" : "FromMany";
  return info.param.name + addresses;
}

TEST_P(ExporterFlood, AnswersProbesAndScrapesWhenItsPagesAreAttacked) {
  const double before = support::resident_mib(exporter.process());
  const support::HostileClients attack(exporter.port(), GetParam().options);

  expect_answers(exporter.url("/healthz"));
  expect_answers(exporter.url("/metrics"));

  EXPECT_LT(support::resident_mib(exporter.process()) - before, 16);
}

INSTANTIATE_TEST_SUITE_P(Each, ExporterFlood, testing::ValuesIn(support::all_attacks("/metrics")),
                         name_of);

}  // namespace
}  // namespace gpuward::exporter
