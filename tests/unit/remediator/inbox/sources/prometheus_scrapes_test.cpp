#include "remediator/inbox/sources/prometheus_scrapes.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string scrape_sample(const std::string& what, const std::string& value) {
  return R"({"metric":{"what":")" + what + R"("},"value":[1763712300.1,")" + value + R"("]})";
}

std::string scrapes_result(const std::string& samples, const std::string& more = "") {
  return R"({"status":"success",)" + more + R"("data":{"resultType":"vector","result":[)" +
         samples + "]}}";
}

TEST(PrometheusScrapes, SayWhatPrometheusReadsOfANode) {
  const auto scrapes = decode_scrapes(scrapes_result(
      scrape_sample("exporter", "0") + "," + scrape_sample("at", "1763712298.5") + "," +
      scrape_sample("others_down", "2") + "," + scrape_sample("fleet_up", "7") + "," +
      scrape_sample("fleet_down", "1") + "," + scrape_sample("seen_at", "1763711000") + "," +
      scrape_sample("severity", "3")));

  ASSERT_TRUE(scrapes) << scrapes.error().message;
  EXPECT_EQ(scrapes->exporter, false);
  EXPECT_EQ(scrapes->others_up, 0);
  EXPECT_EQ(scrapes->others_down, 2);
  EXPECT_EQ(scrapes->fleet_up, 7);
  EXPECT_EQ(scrapes->fleet_down, 1);
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*scrapes->seen_at), 1763711000);
  EXPECT_EQ(scrapes->severity, Severity::kReboot);
}

TEST(PrometheusScrapes, OfANodeWithoutSeriesSayNothing) {
  const auto scrapes = decode_scrapes(scrapes_result(""));
  ASSERT_TRUE(scrapes);
  EXPECT_EQ(scrapes->exporter, std::nullopt);
  EXPECT_EQ(proof_of(*scrapes, 1).sign, ProofSign::kUnknown);
}

TEST(PrometheusScrapes, OfAPartAreNone) {
  EXPECT_FALSE(
      decode_scrapes(scrapes_result(scrape_sample("exporter", "0"), R"("warnings":["a store"],)")));
  EXPECT_FALSE(decode_scrapes("{}"));
}

TEST(PrometheusScrapes, AskForTheNodesOwnTargetsAndThoseOfItsAddress) {
  EXPECT_THAT(scrapes_query("gpu-01", "10.0.0.7"),
              HasSubstr(R"(instance=~"\\[?10\\.0\\.0\\.7\\]?(:[0-9]+)?")"));
  EXPECT_THAT(scrapes_query("gpu-01", "gpu\"}"), Not(HasSubstr("instance")));
  // Addresses repeat from cluster to cluster, as names do.
  EXPECT_THAT(scrapes_query("gpu-01", "10.0.0.7", "east"),
              AllOf(HasSubstr("up{job!=\"gpuward-exporter\",node=\"gpu-01\",cluster=~\"|east\"}"),
                    HasSubstr("(:[0-9]+)?\",cluster=~\"|east\"}"),
                    HasSubstr("up{job=\"gpuward-exporter\",cluster=~\"|east\"}")));
}

TEST(PrometheusScrapes, LeaveAPrometheusAloneThatDoesNotAnswer) {
  fakes::FakeClock clock;
  AnsweringClient client;
  CurrentPolicy policy{Policy{}};
  PrometheusScrapes scrapes("http://prometheus", client, policy, clock);

  EXPECT_FALSE(scrapes.of("gpu-01", ""));
  EXPECT_EQ(scrapes.of("gpu-01", "").error().kind, ErrorKind::kOverloaded);

  EXPECT_THAT(client.requests, SizeIs(1));
}

}  // namespace
}  // namespace gpuward::remediator
