// Counts the pages of a simulated month: a real Prometheus runs the shipped rules, and a model of
// Alertmanager applies the shipped routes. Used by alerts_bench and paging_test.
#pragma once

#include <string>
#include <vector>

#include "tests/alerts/month/fleet.h"
#include "tests/alerts/month/notifications.h"

namespace gpuward::alerts {

struct MonthOptions {
  FleetSize size = {};
  seconds step{30};           // between two evaluations of a rule about one node
  seconds fleet_step{600};    // and of a rule about many
  seconds resend_delay{120};  // Prometheus', as docs/install.md advises
  std::string rules;          // the contents of gpuward.rules.yaml and alertmanager.yaml
  std::string routes;
};

struct Page {
  seconds at{};
  Why why = Why::kNew;
  std::vector<std::string>
      alerts;  // the alerts that the page before did not have, as "GpuExporterDown gpu-7"
  std::vector<std::string> nodes;  // the nodes of these; empty if they concern no node
};

struct Month {
  Fleet fleet;
  std::vector<Page> pages = {};  // to the receiver `pager`, with at least one firing alert
  std::size_t all_clear = 0;     // to the same receiver: one or all alerts have ended
  std::size_t requests = 0;      // to the remediator
};

[[nodiscard]] Month simulate_month(const MonthOptions& options);

struct Verdict {
  std::size_t broken = 0;                         // faults that deserve a page
  std::size_t pages = 0;                          // about a node
  std::size_t reminders = 0;                      // that repeat a page from days before
  std::size_t of_fleet = 0;                       // about remediations and the fleet
  std::size_t most_of_one = 0;                    // pages of one fault
  std::vector<std::string> unpaged;               // faults that deserved a page and got none
  std::vector<std::string> without_fault, twice;  // errors: the pages as text
  std::vector<seconds> delays;                    // from the fault to its first page, sorted
  std::vector<seconds> delays_of_broken;  // the same for faults that take the node out of service

  [[nodiscard]] static double minutes(const std::vector<seconds>& delays, double part);
};

[[nodiscard]] Verdict judge(const Month& month);
[[nodiscard]] std::string table(const Month& month, const Verdict& verdict);

}  // namespace gpuward::alerts
