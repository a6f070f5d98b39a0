#include "tests/alerts/month/month.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <regex>
#include <thread>

#include "tests/alerts/month/past.h"
#include "tests/alerts/month/rule_state.h"
#include "tests/alerts/month/yaml_seconds.h"

namespace gpuward::alerts {
namespace {

struct Rule {
  std::string group, record{}, alert{}, expr{};
  Labels labels{};
  RuleTimes times{};
  seconds interval{};  // between two evaluations
  seconds offset{};    // Prometheus evaluates the groups one after the other
};

std::vector<Rule> read_rules(const std::string& text, seconds step) {
  const auto file = YamlFile::parse(text, "rules");
  if (!file) throw std::runtime_error(file.error().message);
  std::vector<Rule> rules;
  seconds offset{};
  for (const YamlMap& group : file->root().maps("groups")) {
    const seconds interval = std::max(step, read_seconds(group, "interval"));
    std::string group_name;
    group.read("name", group_name);
    for (const YamlMap& item : group.maps("rules")) {
      Rule rule{.group = group_name, .interval = interval, .offset = offset};
      item.read("record", rule.record);
      item.read("alert", rule.alert);
      item.read("expr", rule.expr);
      for (const auto& [name, value] : item.map("labels").entries())
        rule.labels[name] = value.scalar();
      rule.times = {.hold = read_seconds(item, "for"),
                    .keep = read_seconds(item, "keep_firing_for")};
      rules.push_back(std::move(rule));
    }
    offset = (offset + seconds(1)) % std::min(step, seconds(5));
  }
  return rules;
}

// Replaces the name of a recording rule that has a series for each node by its expression.
void put_in(const std::string& name, const std::string& expr, std::string& where) {
  where = std::regex_replace(where, std::regex("(^|[^\\w:])" + name + "(?![\\w:{])"),
                             "$1(" + expr + ")");
}

void record(const Rule& rule, const Past& past, seconds end) {
  std::vector<Series> recorded;
  for (auto& result : past.ask(rule.expr, rule.interval, end)) {
    Series series{.labels = std::move(result.labels), .samples = {}};
    series.labels["__name__"] = rule.record;
    for (const Sample& sample : result.samples) {
      auto& kept = series.samples;
      if (!kept.empty() && sample.at - kept.back().at > rule.interval) {
        kept.push_back({kept.back().at + rule.interval, stale_value()});
      }
      kept.push_back(sample);
    }
    const seconds last = series.samples.back().at + rule.interval;
    if (last < end) series.samples.push_back({last, stale_value()});
    recorded.push_back(std::move(series));
  }
  past.write(recorded);
}

std::vector<AlertHistory> evaluate(const Rule& rule, const Past& past, const Fleet& fleet,
                                   seconds resend_delay) {
  const Evaluations evaluations{.step = rule.interval,
                                .end = fleet.end,
                                .outages = fleet.prometheus,
                                .resend_delay = resend_delay};
  std::vector<AlertHistory> alerts;
  for (auto& result : past.ask(rule.expr, rule.interval, fleet.end)) {
    std::vector<seconds> active;
    for (const Sample& sample : result.samples) active.push_back(sample.at);
    AlertHistory alert{.labels = std::move(result.labels),
                       .firing = firing_spans(active, rule.times, evaluations)};
    if (alert.firing.empty()) continue;
    for (Span& span : alert.firing) span = {span.from + rule.offset, span.to + rule.offset};
    alert.labels.erase("__name__");
    for (const auto& [name, value] : rule.labels) alert.labels[name] = value;
    alert.labels["alertname"] = rule.alert;
    alerts.push_back(std::move(alert));
  }
  return alerts;
}

// Runs on two threads, because Prometheus answers one query on one thread.
std::vector<AlertHistory> evaluate(const std::vector<Rule>& rules, const Past& past,
                                   const Fleet& fleet, seconds resend_delay) {
  std::vector<AlertHistory> all;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < rules.size(); i = next++) {
      try {
        auto alerts = evaluate(rules[i], past, fleet, resend_delay);
        const std::lock_guard lock(mutex);
        std::ranges::move(alerts, std::back_inserter(all));
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  {
    const std::jthread first(work), second(work);
  }
  if (failure) std::rethrow_exception(failure);
  std::ranges::sort(all, {}, &AlertHistory::labels);
  return all;
}

std::vector<AlertHistory> alerts_of(std::vector<Rule> rules, const Past& past, const Fleet& fleet,
                                    seconds resend_delay) {
  std::vector<Rule> alerts;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Rule rule = rules[i];
    if (rule.record.starts_with("node:")) {
      for (Rule& other : rules) put_in(rule.record, rule.expr, other.expr);
    } else if (!rule.record.empty()) {
      record(rule, past, fleet.end);
    } else {
      alerts.push_back(rule);
    }
  }
  return evaluate(alerts, past, fleet, resend_delay);
}

// Rules about the fleet need every node all the time; the other rules need no quiet times.
std::vector<AlertHistory> alerts_of(const MonthOptions& options, const Fleet& fleet) {
  std::vector<AlertHistory> all;
  for (const Detail detail : {Detail::kAll, Detail::kNews}) {
    const bool is_of_fleet = detail == Detail::kAll;
    auto rules = read_rules(options.rules, is_of_fleet ? options.fleet_step : options.step);
    std::erase_if(rules,
                  [&](const Rule& rule) { return (rule.group == "gpuward-fleet") != is_of_fleet; });
    const Past past;
    for (const Node& node : fleet.nodes) {
      // One node has all its samples: GpuExporterAbsent would fire without any exporter.
      const bool is_first = &node == &fleet.nodes.front();
      past.write(series_of(node, fleet.end, is_first ? Detail::kAll : detail));
    }
    past.write(series_of_remediator(fleet));
    std::ranges::move(alerts_of(std::move(rules), past, fleet, options.resend_delay),
                      std::back_inserter(all));
  }
  return all;
}

Page page_of(const Notification& notification, const std::vector<AlertHistory>& alerts) {
  Page page{.at = notification.at, .why = notification.why, .alerts = {}, .nodes = {}};
  const auto& what = notification.added.empty() ? notification.firing : notification.added;
  for (const std::size_t i : what) {
    const std::string node = label_of(alerts[i].labels, "node");
    page.alerts.push_back(label_of(alerts[i].labels, "alertname") + " " + node);
    if (!node.empty() && std::ranges::find(page.nodes, node) == page.nodes.end())
      page.nodes.push_back(node);
  }
  return page;
}

}  // namespace

Month simulate_month(const MonthOptions& options) {
  Month month{.fleet = simulate_fleet(options.size)};
  const auto alerts = alerts_of(options, month.fleet);
  for (const Notification& one : notifications(read_routing(options.routes), alerts)) {
    if (one.at >= month.fleet.end) break;
    if (one.receiver == "gpuward-remediator") ++month.requests;
    if (one.receiver != "pager") continue;
    if (one.why == Why::kResolved) {
      ++month.all_clear;
    } else {
      month.pages.push_back(page_of(one, alerts));
    }
  }
  return month;
}

}  // namespace gpuward::alerts
