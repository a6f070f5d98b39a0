// How often people are called in a simulated month: the shipped rules in a real Prometheus, and the
// shipped routes as Alertmanager applies them. Used by alerts_bench and paging_test.
#pragma once

#include <string>
#include <vector>

#include "tests/alerts/month/fleet.h"
#include "tests/alerts/month/notifications.h"

namespace gpuward::alerts {

struct MonthOptions {
  FleetSize size = {};
  seconds step{30};           // between two evaluations of a rule about a node
  seconds fleet_step{600};    // and of one about many
  seconds resend_delay{120};  // of Prometheus, as docs/install.md advises
  std::string rules;          // what stands in gpuward.rules.yaml and alertmanager.yaml
  std::string routes;
};

struct Page {
  seconds at{};
  Why why = Why::kNew;
  std::vector<std::string>
      alerts;  // what it says that the one before did not: "GpuExporterDown gpu-7"
  std::vector<std::string> nodes;  // of these; none where they are not about a node
};

struct Month {
  Fleet fleet;
  std::vector<Page> pages = {};  // to the receiver `pager`, with something that fires
  std::size_t all_clear = 0;     // to the same: something has ended
  std::size_t requests = 0;      // to the remediator
};

[[nodiscard]] Month simulate_month(const MonthOptions& options);

struct Verdict {
  std::size_t broken = 0;                         // faults that are worth a page
  std::size_t pages = 0;                          // about a node
  std::size_t reminders = 0;                      // that repeat what was sent days before
  std::size_t of_fleet = 0;                       // about remediations and the fleet
  std::size_t most_of_one = 0;                    // pages of one fault
  std::vector<std::string> unpaged;               // faults that were worth a page and had none
  std::vector<std::string> without_fault, twice;  // what must not be: the page, in words
  std::vector<seconds> delays;            // from the fault to its first page, in order of size
  std::vector<seconds> delays_of_broken;  // of those that take the node out of service

  [[nodiscard]] static double minutes(const std::vector<seconds>& delays, double part);
};

[[nodiscard]] Verdict judge(const Month& month);
[[nodiscard]] std::string table(const Month& month, const Verdict& verdict);

}  // namespace gpuward::alerts
