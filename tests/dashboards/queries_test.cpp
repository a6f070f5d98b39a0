// Runs every query of every panel on a real Prometheus that watches the whole flow while a GPU of
// one node falls off the bus: each has a result, or is listed below with the reason why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/dashboards/panels.h"
#include "tests/dashboards/watched_fleet.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::dashboards {
namespace {

// Panels that are correctly empty here. Their metrics are in docs/metrics.md.
const std::map<std::string, std::string> kEmptyHere = {
    {"Workloads whose programs fail", "no kubelet says who uses the GPUs"},
    {"Who uses the GPUs", "no kubelet says who uses the GPUs"},
    {"EFA drops", "no EFA device"},
    {"Exclusions", "nobody is excluded"},
    {"Lag of the sources", "no Loki, the one source with a lag"},
};

TEST(DashboardQueries, HaveAnAnswer) {
  GPUWARD_REQUIRE(e2e::why_no_stack());
  WatchedFleet fleet;
  const Status started = fleet.start({});
  ASSERT_TRUE(started) << started.error().message << fleet.logs();
  const Status broken = fleet.break_things();
  ASSERT_TRUE(broken) << broken.error().message << fleet.logs();
  std::vector<Query> wanted;
  std::size_t exceptions = 0;
  for (const Dashboard& dashboard : load_dashboards()) {
    for (const Query& query : queries_of(dashboard)) {
      if (kEmptyHere.contains(query.panel)) {
        ++exceptions;
      } else {
        wanted.push_back(query);
      }
    }
    for (const Query& query : annotations_of(dashboard)) wanted.push_back(query);
  }
  EXPECT_EQ(exceptions, kEmptyHere.size());
  EXPECT_GT(wanted.size(), 70U);
  // A rate needs two samples, and recording rules a minute.
  (void)support::poll_until([&] {
    std::erase_if(wanted, [&](const Query& query) {
      return fleet.watch().query("count(" + with_variables(query.expr) + ")").has_value();
    });
    return wanted.empty();
  });
  for (const Query& query : wanted) {
    ADD_FAILURE() << query.dashboard << ", " << query.panel << ": " << query.expr;
  }
}

}  // namespace
}  // namespace gpuward::dashboards
