// A month of a fleet of GPU nodes: faults at published rates, and other events: maintenance,
// upgrades of the exporter, restarts of Prometheus, racks without network. The same seed gives the
// same month.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/alerts/month/moments.h"
#include "tests/alerts/month/remote_write.h"

namespace gpuward::alerts {

struct FleetSize {
  std::size_t nodes = 1000;  // with 8 GPUs each
  int days = 30;
  double fault_factor = 1;  // multiplies the published rates
  std::uint64_t seed = 1;
};

struct Finding {
  Span span;
  std::string check, code;
  int severity = 1;  // as gpuward_node_severity: 1 monitor ... 4 isolate
};

// The real fault of a node, from the first sign until the repair.
struct Fault {
  std::size_t node = 0;
  std::string kind;
  Span span;
  bool is_worth_a_page = true;
  bool takes_node_out = false;  // of service: reset, reboot or isolate
  std::vector<seconds> states;  // when its state began and changed
};

struct Node {
  std::string name;
  std::vector<Span> down = {};  // its exporter does not answer
  std::vector<Span> gone =
      {};  // Prometheus has no target: its pod, or the machine, is being replaced
  std::vector<Finding> findings = {};
};

struct Fleet {
  seconds end{};
  std::vector<Node> nodes;
  std::vector<Fault> faults;
  std::vector<Span> held;        // remediations that wait for an operator
  std::vector<Span> prometheus;  // when it is down

  std::size_t maintenances = 0, exporter_restarts = 0, partitions = 0;
};

[[nodiscard]] Fleet simulate_fleet(const FleetSize& size);
// The series that Prometheus has scraped from a node. `kNews` leaves out long times without a
// finding, in which no rule about a single node fires.
enum class Detail : std::uint8_t { kAll, kNews };
[[nodiscard]] std::vector<Series> series_of(const Node& node, seconds end, Detail detail);
// The series of the two replicas of the remediator.
[[nodiscard]] std::vector<Series> series_of_remediator(const Fleet& fleet);

}  // namespace gpuward::alerts
