// Compares the pages of a month with the real faults.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "tests/alerts/month/month.h"

namespace gpuward::alerts {
namespace {

// An alert keeps firing for ten minutes, and a group is sent again after five.
constexpr seconds kAfterwards = std::chrono::minutes(30);

// A page may repeat an alert that has fired for days.
constexpr seconds kReminder = std::chrono::hours(119);

bool is_about(const Span& span, seconds at) {
  return span.from <= at && at < span.to + kAfterwards;
}

std::string in_words(const Page& page) {
  std::ostringstream text;
  text << "after " << page.at.count() << " s:";
  for (const std::string& alert : page.alerts) text << " " << alert;
  return text.str();
}

class Judge {
 public:
  explicit Judge(const Month& month)
      : month_(month),
        first_page_(month.fleet.faults.size()),
        last_page_(month.fleet.faults.size()),
        pages_of_(month.fleet.faults.size()) {}

  Verdict run() {
    for (const Page& page : month_.pages) judge(page);
    for (std::size_t i = 0; i < pages_of_.size(); ++i) judge(i);
    std::ranges::sort(verdict_.delays);
    std::ranges::sort(verdict_.delays_of_broken);
    return std::move(verdict_);
  }

 private:
  void judge(const Page& page) {
    if (page.nodes.empty()) {
      ++verdict_.of_fleet;
      const bool is_held = std::ranges::any_of(
          month_.fleet.held, [&](const Span& span) { return is_about(span, page.at); });
      if (!is_held) verdict_.without_fault.push_back(in_words(page));
      return;
    }
    bool has_fault = false;
    for (const std::string& node : page.nodes) has_fault |= judge(page, node);
    if (!has_fault) verdict_.without_fault.push_back(in_words(page));
    if (page.why == Why::kRepeat) {
      ++verdict_.reminders;
    } else {
      ++verdict_.pages;
    }
  }

  bool judge(const Page& page, const std::string& node) {
    for (std::size_t i = 0; i < month_.fleet.faults.size(); ++i) {
      const Fault& fault = month_.fleet.faults[i];
      if (month_.fleet.nodes[fault.node].name != node || !is_about(fault.span, page.at)) continue;
      const seconds before = std::exchange(last_page_[i], page.at);
      if (page.why == Why::kRepeat) {
        if (page.at - before < kReminder)
          verdict_.twice.push_back(fault.kind + ", " + in_words(page));
        return true;
      }
      if (pages_of_[i] == 0) first_page_[i] = page.at;
      const auto states =
          std::ranges::count_if(fault.states, [&](seconds at) { return at <= page.at; });
      if (++pages_of_[i] > static_cast<std::size_t>(states))
        verdict_.twice.push_back(fault.kind + ", " + in_words(page));
      return true;
    }
    return false;
  }

  void judge(std::size_t i) {
    const Fault& fault = month_.fleet.faults[i];
    if (!fault.is_worth_a_page) return;
    ++verdict_.broken;
    verdict_.most_of_one = std::max(verdict_.most_of_one, pages_of_[i]);
    if (pages_of_[i] == 0) {
      verdict_.unpaged.push_back(fault.kind + " of " + month_.fleet.nodes[fault.node].name +
                                 " after " + std::to_string(fault.span.from.count()) + " s");
      return;
    }
    const seconds delay = first_page_[i] - fault.span.from;
    (fault.takes_node_out ? verdict_.delays_of_broken : verdict_.delays).push_back(delay);
  }

  const Month& month_;
  std::vector<seconds> first_page_, last_page_;
  std::vector<std::size_t> pages_of_;
  Verdict verdict_;
};

}  // namespace

double Verdict::minutes(const std::vector<seconds>& delays, double part) {
  if (delays.empty()) return 0;
  const auto at =
      static_cast<std::size_t>(std::ceil(part * static_cast<double>(delays.size()))) - 1;
  return static_cast<double>(delays[at].count()) / 60;
}

Verdict judge(const Month& month) { return Judge(month).run(); }

std::string table(const Month& month, const Verdict& verdict) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  const auto delay = [](const std::vector<seconds>& delays) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << Verdict::minutes(delays, 0.5) << " / "
         << Verdict::minutes(delays, 0.99);
    return text.str();
  };
  const auto per = static_cast<double>(verdict.pages) /
                   static_cast<double>(std::max<std::size_t>(1, verdict.broken));
  out << "| | |\n|---|---|\n"
      << "| faults that are worth a page | " << verdict.broken << " |\n"
      << "| reboots for maintenance / restarts of exporters / racks cut off / restarts of "
         "Prometheus | "
      << month.fleet.maintenances << " / " << month.fleet.exporter_restarts << " / "
      << month.fleet.partitions << " / " << month.fleet.prometheus.size() << " |\n"
      << "| pages about a node | " << verdict.pages << " |\n"
      << "| pages for one fault, on average / at most | " << std::setprecision(2) << per
      << std::setprecision(1) << " / " << verdict.most_of_one << " |\n"
      << "| pages again without a change of the node's state | " << verdict.twice.size() << " |\n"
      << "| pages without a fault | " << verdict.without_fault.size() << " |\n"
      << "| faults without a page | " << verdict.unpaged.size() << " |\n"
      << "| reminders after 5 days | " << verdict.reminders << " |\n"
      << "| pages that a remediation waits for an operator | " << verdict.of_fleet << " |\n"
      << "| minutes from fault to page where the node is taken out of service, median / p99 | "
      << delay(verdict.delays_of_broken) << " |\n"
      << "| minutes from fault to page of other faults and dead hosts, median / p99 | "
      << delay(verdict.delays) << " |\n"
      << "| messages that something has ended | " << month.all_clear << " |\n"
      << "| notifications to the remediator | " << month.requests << " |\n";
  return out.str();
}

}  // namespace gpuward::alerts
