#include "remediator/cli/replay/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

std::string matrix(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}";
}

// A series with samples at those seconds.
std::string series(const std::string& node, std::initializer_list<int> seconds) {
  std::string values;
  for (const int at : seconds)
    values += (values.empty() ? "" : ",") + ("[" + std::to_string(at) + R"(,"1"])");
  return R"({"metric":{"__name__":"ALERTS","alertstate":"firing","alertname":"Bad","node":")" +
         node + R"("},"values":[)" + values + "]}";
}

WallTime at(int seconds) { return WallTime(std::chrono::seconds(seconds)); }

TEST(AlertHistory, MakesEpisodesOfSamples) {
  AlertHistory history(minutes(5));
  ASSERT_TRUE(history.add(
      matrix(series("gpu-02", {60, 120, 180}) + "," + series("gpu-01", {0, 60, 361, 1000, 1060}))));

  const auto episodes = history.take();

  ASSERT_EQ(episodes.size(), 4U);
  EXPECT_EQ(episodes[0].alert.labels.at("node"), "gpu-01");
  EXPECT_FALSE(episodes[0].alert.labels.contains("alertstate"));
  EXPECT_EQ(episodes[0].starts_at(), at(0));
  EXPECT_EQ(episodes[0].last, at(60));
  EXPECT_EQ(episodes[1].alert.labels.at("node"), "gpu-02");
  EXPECT_EQ(episodes[2].starts_at(), at(361)) << "a gap of more than 5 minutes";
  EXPECT_EQ(episodes[3].last, at(1060));
  EXPECT_EQ(episodes[0].alert.fingerprint, episodes[3].alert.fingerprint);
}

TEST(AlertHistory, GoesOnFromOneSliceToTheNext) {
  AlertHistory history(minutes(5));
  ASSERT_TRUE(history.add(matrix(series("gpu-01", {0, 60}))));
  ASSERT_TRUE(history.add(matrix("")));
  ASSERT_TRUE(history.add(matrix(series("gpu-01", {120, 180}))));

  const auto episodes = history.take();

  ASSERT_EQ(episodes.size(), 1U);
  EXPECT_EQ(episodes[0].last, at(180));
}

TEST(AlertHistory, SaysWhatIsWrongWithAnAnswer) {
  struct Row {
    std::string body, says;
  };
  const std::vector<Row> rows = {
      {"not JSON", "alert history"},
      {"{}", "not a response from Prometheus /api/v1/query_range"},
      {R"({"status":"error"})", "not a response from"},
      {R"({"status":"success","data":{"resultType":"vector","result":[]}})", "not a response from"},
      {matrix(R"({"metric":{}})"), "data.result[0].values: not a list of samples"},
      {matrix(R"({"metric":{},"values":[["x","1"]]})"), "data.result[0].values"},
      {matrix(R"({"metric":{},"values":[[-1,"1"]]})"), "data.result[0].values"},
      {matrix(series("a", {0}) + "," + series("b", {60, 0})),
       "data.result[1]: samples are not in time"},
  };
  for (const Row& row : rows) {
    AlertHistory history(minutes(5));
    const auto added = history.add(row.body);
    ASSERT_FALSE(added) << row.body;
    EXPECT_THAT(added.error().message, HasSubstr(row.says)) << row.body;
  }
}

}  // namespace
}  // namespace gpuward::remediator
