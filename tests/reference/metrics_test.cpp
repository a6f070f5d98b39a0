// docs/metrics.md: its tables are generated from the declared families of both programs (`./dev
// docs`). Each declared family is served, with a value for each of its labels.
#include "remediator/tell/page/metrics.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "core/http/client/client.h"
#include "core/metrics/process.h"
#include "exporter/publish/families.h"
#include "remediator/cluster/api_times.h"
#include "tests/fakes/fake_clock.h"
#include "tests/reference/page.h"
#include "tests/unit/exporter/publish/filled_snapshot.h"

namespace gpuward::reference {
namespace {

using metrics::Families;
using metrics::Family;

const std::string kMetricsMark = "<!-- metrics of ";

// The families of each table of the page, with all possible labels.
using Tables = std::map<std::string, Families>;

Families of_both_programs() {
  Families families;
  metrics::append_build_info(families);
  metrics::append_process(families);
  return families;
}

Families without(Families families, const Families& others) {
  std::set<std::string_view> names;
  for (const Family& other : others) names.insert(other.name);
  std::erase_if(families, [&](const Family& family) { return names.contains(family.name); });
  return families;
}

void append_on_request(const exporter::Snapshot& snapshot, const exporter::MetricsOptions& options,
                       Families& families) {
  const Families all = exporter::exporter_families(snapshot, xid::Catalogue(), options);
  const Families usual = exporter::exporter_families(snapshot, xid::Catalogue());
  std::ranges::copy(without(all, usual), std::back_inserter(families));
}

void append_exporter(const exporter::Snapshot& snapshot, Tables& tables) {
  append_event_families(snapshot, xid::Catalogue(), tables["findings"]);
  append_finding_families(snapshot, tables["findings"]);
  append_check_families(snapshot, tables["checks"]);
  append_pod_families(snapshot, tables["pods"]);
  append_gpu_families(snapshot, {}, tables["gpus"]);
  append_worker_families(snapshot, tables["worker"]);
  append_node_families(snapshot, tables["node"]);
  append_announcement_families(snapshot, tables["announcements"]);
  append_rdma_families(snapshot, {}, tables["rdma"]);
  append_self_families(snapshot, tables["self"]);
  append_on_request(snapshot, {.dcgm_compat = true, .efa_compat = true, .per_link = true},
                    tables["on-request"]);
}

Families remediator_families() {
  fakes::FakeClock clock;
  remediator::CounterValues values = remediator::Counters(clock).values();
  values.decisions["act"] = values.errors["timeout"] = 1;
  values.last_notification = clock.wall();
  remediator::Standing standing;
  standing.remediations = {{.oldest_step = clock.wall()}};
  standing.waiting = {{.rule = "mode", .number = 1, .since = clock.wall()}};
  standing.last_good_reload = clock.wall();
  standing.approvals_guarded = true;
  standing.leads = true;
  standing.left_in_service["budget.taint"] = 1;
  standing.operands_paused = {"gpu-01"};
  standing.drills["Draining"] = 1;
  http::CurlClient nobody;
  standing.sources = {
      {.name = "prometheus", .last_success = clock.wall(), .lag = std::chrono::seconds(1)},
      {.name = "silent", .last_success = {}, .lag = {}, .nodes = {{"silent", 1}}}};
  standing.api_times = remediator::ApiTimes(nobody, clock).family();
  standing.exclusions["gpu-01"] = {};
  standing.triage = {.is_on = true, .lines = {{remediator::TriageOutcome::kAnswered, 1}}};
  standing.sinks = {{.sink = "oncall", .ended = {{remediator::Delivery::kSent, 1}}, .waiting = 0}};
  standing.spending = remediator::LedgerSlots::Spending{
      .breaker = {},
      .uses = {{.guard = "budget.pool", .where = "pool a", .used = 1, .allowed = 2}},
      .slots = {{remediator::Impact::kCordon, 1}}};
  return remediator::to_families(values, standing);
}

Tables all_tables() {
  Tables tables;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd})
    append_exporter(exporter::filled_snapshot(2, vendor), tables);
  tables["both"] = of_both_programs();
  tables["remediator"] = without(remediator_families(), tables["both"]);
  return tables;
}

std::string_view word_of(metrics::Type type) {
  switch (type) {
    case metrics::Type::kCounter:
      return "counter";
    case metrics::Type::kGauge:
      return "gauge";
    case metrics::Type::kHistogram:
      break;
  }
  return "histogram";
}

std::string row_of(const metrics::Declaration& declared) {
  std::string labels;
  for (const std::string_view name : declared.labels) {
    if (!name.empty()) labels.append(labels.empty() ? " `" : ", `").append(name).append("`");
  }
  std::string row = "| `";
  row.append(declared.name).append("` | ").append(word_of(declared.type)).append(" |");
  row.append(labels).append(" | ").append(declared.help).append(" | ");
  return row.append(declared.absent.empty() ? "never" : declared.absent).append(" |\n");
}

std::string table_of(const Families& families) {
  std::set<std::string_view> written;
  std::string rows = "| name | type | labels | meaning | absent |\n|---|---|---|---|---|\n";
  for (const Family& family : families) {
    if (written.insert(family.declared.name).second) rows += row_of(family.declared);
  }
  return rows;
}

TEST(GeneratedMetrics, LabelRenameIsSeenByThePageThatHasEveryFamily) {
  const Tables tables = all_tables();
  std::multiset<std::string> named;

  expect_tables("docs/metrics.md", kMetricsMark, [&](const std::string& line) {
    const std::string name =
        line.substr(kMetricsMark.size(), line.rfind(" -->") - kMetricsMark.size());
    named.insert(name);
    return table_of(tables.at(name));
  });

  for (const auto& [name, families] : tables) EXPECT_EQ(named.count(name), 1U) << name;
}

TEST(MetricsPage, HasNoFamilyThatIsNeverServed) {
  for (const auto& [table, families] : all_tables()) {
    std::set<std::string_view> declared, served;
    for (const Family& family : families) {
      declared.insert(family.declared.name);
      if (!family.samples.empty() || !family.histograms.empty())
        served.insert(family.declared.name);
    }
    EXPECT_THAT(served, testing::ContainerEq(declared)) << table;
  }
}

TEST(MetricsPage, HasTheLabelsOfEachSeries) {
  for (const auto& [table, families] : all_tables()) {
    for (const Family& family : families) {
      const auto names =
          std::ranges::count_if(family.declared.labels, [](auto name) { return !name.empty(); });
      for (const auto& sample : family.samples)
        EXPECT_EQ(std::ssize(sample.labels), names) << family.name;
      for (const auto& sample : family.histograms)
        EXPECT_EQ(std::ssize(sample.labels), names) << family.name;
    }
  }
}

TEST(MetricsPage, HasEachNameOfAProgramOnce) {
  std::map<bool, std::set<std::string_view>> seen;  // whether of the remediator
  for (const auto& [table, families] : all_tables()) {
    std::set<std::string_view> names;
    for (const Family& family : families) names.insert(family.declared.name);
    for (const auto name : names)
      EXPECT_TRUE(seen[table == "remediator"].insert(name).second) << name;
  }
}

}  // namespace
}  // namespace gpuward::reference
