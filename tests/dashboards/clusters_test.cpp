// Runs every query on a real Prometheus that has two clusters with the same names of nodes, jobs
// and instances: one chosen cluster shows the same as alone, and both together show both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/alerts/month/past.h"
#include "tests/dashboards/panels.h"
#include "tests/support/require.h"

namespace gpuward::dashboards {
namespace {

using alerts::Labels;
using alerts::Past;
using alerts::Series;
using std::chrono::seconds;
using Values = std::map<Labels, double>;

constexpr seconds kNow{600}, kScrape{15};

enum class Sum { kYes, kNo };  // whether a number for all clusters is the sum of theirs

struct Asked {
  Query query;
  Sum sum = Sum::kNo;
};

// States, names and times of several clusters are not added up.
Sum is_sum(const Json& panel) {
  const Json& field = panel.at("fieldConfig").at("defaults");
  const bool is_other = !member_at(field, "mappings").empty() || string_at(field, "unit") == "s" ||
                        string_at(member_at(panel, "options"), "textMode") == "name";
  return is_other ? Sum::kNo : Sum::kYes;
}

std::vector<Asked> all_queries() {
  std::vector<Asked> out;
  for (const Dashboard& dashboard : load_dashboards()) {
    std::map<std::string, Sum> sums;
    for (const Json& panel : dashboard.json.at("panels")) {
      if (panel.at("type") != "row") sums.emplace(string_at(panel, "title"), is_sum(panel));
    }
    for (const Query& query : queries_of(dashboard)) out.push_back({query, sums.at(query.panel)});
    for (const Query& query : annotations_of(dashboard)) out.push_back({query});
  }
  return out;
}

// The labels in the queries, with a value that passes the exclusions.
Labels labels_asked_for(const std::vector<Asked>& queries) {
  static const std::regex kLabels(R"((?:by|on|group_left) \(([^)]*)\))"), kName(R"(\w+)");
  Labels out;
  for (const Asked& asked : queries) {
    const std::string& expr = asked.query.expr;
    for (std::sregex_iterator at(expr.begin(), expr.end(), kLabels), end; at != end; ++at) {
      const std::string names = (*at)[1];
      for (std::sregex_iterator name(names.begin(), names.end(), kName); name != end; ++name) {
        out[name->str()] = "some";
      }
    }
  }
  for (const char* absent : {"cluster", "le"}) out.erase(absent);
  out.merge(Labels{{"alertname", "GpuNodeBad"}, {"result", "lost"}, {"phase", "Acting"}});
  out["job"] = "gpuward-exporter";
  out["remediation"] = "reset";
  return out;
}

// Each metric of the queries with its fixed labels.
std::set<Labels> series_asked_for(const std::vector<Asked>& queries) {
  static const std::regex kSelector(R"(([a-zA-Z_:]+)\{([^}]*)\})"),
      kFixed(R"re((\w+)="([^"]*)")re");
  const Labels common = labels_asked_for(queries);
  std::set<Labels> out;
  for (const Asked& asked : queries) {
    const std::string& expr = asked.query.expr;
    for (std::sregex_iterator at(expr.begin(), expr.end(), kSelector), end; at != end; ++at) {
      Labels labels = common;
      labels["__name__"] = (*at)[1];
      const std::string matchers = (*at)[2];
      for (std::sregex_iterator one(matchers.begin(), matchers.end(), kFixed); one != end; ++one) {
        labels[(*one)[1]] = (*one)[2];
      }
      out.insert(labels);
    }
  }
  return out;
}

bool grows(const std::string& metric) {
  return metric.ends_with("_total") || metric.ends_with("_bucket") || metric.ends_with("_count");
}

// The value of a constant, or the growth of a counter. `size` is 0, 1 or 2.
double height(const std::string& metric, int size) {
  // More GPUs than the machine must have in one cluster, and none in the other.
  if (metric == "gpuward_gpus_counted_by_driver") return size == 1 ? 3 : 0;
  return size;
}

// The series of two nodes, or two replicas of the remediator, with the same names in each cluster.
std::vector<Series> cluster_of(const std::string& name, int size, const std::set<Labels>& wanted) {
  std::vector<Series> out;
  const auto add = [&](Labels labels) {
    if (!name.empty()) labels["cluster"] = name;
    const std::string metric = labels["__name__"];
    Series series{.labels = std::move(labels), .samples = {}};
    for (seconds at{0}; at <= kNow; at += kScrape) {
      const double value = height(metric, size);
      series.samples.push_back({at, grows(metric) ? value * double(at / kScrape) : value});
    }
    out.push_back(std::move(series));
  };
  for (Labels labels : wanted) {
    for (const char* number : {"1", "2"}) {
      labels["node"] = std::string("gpu-node-") + number;
      labels["instance"] = std::string("10.0.0.") + number + ":10980";
      if (!labels["__name__"].ends_with("_bucket")) {
        add(labels);
        continue;
      }
      for (const char* le : {"60", "+Inf"}) {
        labels["le"] = le;
        add(labels);
      }
      labels.erase("le");
    }
  }
  return out;
}

Values values_of(const Past& past, const Query& query, const std::string& clusters) {
  Values out;
  const std::string expr = with_variables(query.expr, clusters);
  for (const Past::Result& result : past.ask(expr, kNow, kNow + seconds(1))) {
    const alerts::Sample& last = result.samples.back();
    if (last.at == kNow) out[result.labels] = last.value;
  }
  return out;
}

Values without_cluster(const Values& values) {
  Values out;
  for (const auto& [labels, value] : values) {
    Labels rest = labels;
    rest.erase("cluster");
    out[rest] += value;
  }
  return out;
}

Values sum_of(Values left, const Values& right) {
  for (const auto& [labels, value] : right) left[labels] += value;
  return left;
}

class DashboardClusters : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(support::why_no_program("prometheus")); }

  const std::vector<Asked> queries_ = all_queries();
};

TEST_F(DashboardClusters, OneShowsWhatItWouldShowAlone) {
  const auto wanted = series_asked_for(queries_);
  const Past alone, all;
  alone.write(cluster_of("", 1, wanted));
  all.write(cluster_of("east", 1, wanted));
  all.write(cluster_of("west", 2, wanted));
  all.write(cluster_of("north", 0, wanted));
  EXPECT_GT(queries_.size(), 80U);
  for (const auto& [query, sum] : queries_) {
    const Values expected = values_of(alone, query, ".*");
    EXPECT_FALSE(expected.empty()) << query.dashboard << ", " << query.panel << ": " << query.expr;
    EXPECT_EQ(without_cluster(values_of(all, query, "east")), expected)
        << query.dashboard << ", " << query.panel << ": " << query.expr;
  }
}

TEST_F(DashboardClusters, BothShowBoth) {
  const auto wanted = series_asked_for(queries_);
  const Past both;
  both.write(cluster_of("east", 1, wanted));
  both.write(cluster_of("west", 2, wanted));
  for (const auto& [query, sum] : queries_) {
    const Values found = values_of(both, query, ".*");
    const Values expected = sum_of(values_of(both, query, "east"), values_of(both, query, "west"));
    const bool has_cluster = found.begin()->first.contains("cluster");
    const bool has_node = found.begin()->first.contains("node");
    EXPECT_TRUE(has_cluster || !has_node) << "which node? " << query.panel << ": " << query.expr;
    if (has_cluster || sum == Sum::kYes) {
      EXPECT_EQ(found, expected) << query.dashboard << ", " << query.panel << ": " << query.expr;
    }
  }
}

TEST_F(DashboardClusters, EachHasOneLeader) {
  const auto leaders = [](const std::string& cluster, std::vector<double> replicas) {
    std::vector<Series> out;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      out.push_back({{{"__name__", "gpuward_remediator_leads"},
                      {"job", "gpuward-remediator"},
                      {"instance", "10.0.0." + std::to_string(i) + ":10982"},
                      {"cluster", cluster}},
                     {{kNow, replicas[i]}}});
    }
    return out;
  };
  const Past past;
  past.write(leaders("east", {1, 0}));
  past.write(leaders("west", {0, 1}));
  past.write(leaders("none", {0, 0}));
  past.write(leaders("two", {1, 1}));
  int panels = 0;
  for (const auto& [query, sum] : queries_) {
    if (query.panel != "Leaders") continue;
    ++panels;
    for (const auto& [clusters, leaders_shown] : {std::pair{"east", 1.0},
                                                  {"east|west", 1.0},
                                                  {"east|none", 0.0},
                                                  {"east|two", 2.0},
                                                  {"unknown", 0.0}}) {
      EXPECT_EQ(values_of(past, query, clusters), (Values{{{}, leaders_shown}})) << clusters;
    }
  }
  EXPECT_EQ(panels, 3);
}

}  // namespace
}  // namespace gpuward::dashboards
