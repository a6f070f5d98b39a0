#include "tests/alerts/month/fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>

namespace gpuward::alerts {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::size_t kNodesOfARack = 32;
constexpr double kGpusOfANode = 8;

// Faults of 16,384 GPUs in 54 days: table 5 of "The Llama 3 Herd of Models" (arXiv:2407.21783). The
// faults behind "faulty GPU", and how often a fault flaps, are not published; the values are
// assumed.
constexpr double kPublishedGpuDays = 16'384.0 * 54;
enum class Course : std::uint8_t {
  kReset,
  kReboot,
  kIsolate,
  kWatched,
  kFlapping,
  kFlappingReset,
  kSilent
};
struct Kind {
  std::string_view name;
  double published;
  Course course;
  std::string_view check, code;
};
constexpr std::array<Kind, 17> kKinds{{
    {"GPU off the bus", 60, Course::kReboot, "xid", "79"},
    {"NVLink error", 30, Course::kReset, "xid", "74"},
    {"faulty GPU, reset asked for", 24, Course::kReset, "gpu", "recovery_action_reset"},
    {"faulty GPU, to be replaced", 24, Course::kIsolate, "xid", "64"},
    {"request to reset that flaps", 10, Course::kFlappingReset, "gpu", "recovery_action_reset"},
    {"HBM: uncorrected error", 30, Course::kReset, "xid", "95"},
    {"HBM: row remap pending", 34, Course::kReset, "gpu", "row_remap_pending"},
    {"HBM: no spare row", 8, Course::kIsolate, "gpu", "row_remap_failure"},
    {"SRAM: uncorrected error", 12, Course::kReset, "gpu", "ecc_uncorrected"},
    {"SRAM: over the limit", 7, Course::kIsolate, "gpu", "sram_threshold"},
    {"GSP timeout", 17, Course::kReset, "xid", "119"},
    {"EFA or NIC", 7, Course::kWatched, "2-efa-enumeration", "efa_rdma_missing"},
    {"network cable or port", 35, Course::kWatched, "6-efa-loopback", "efa_loopback_drops"},
    {"too hot", 4, Course::kWatched, "gpu", "thermal_slowdown"},
    {"too hot now and then", 8, Course::kFlapping, "gpu", "thermal_slowdown"},
    {"NVLink that flaps", 8, Course::kFlapping, "gpu", "nvlink_inactive"},
    {"host that is dead", 14, Course::kSilent, "", ""},
}};

constexpr int kMonitor = 1, kReset = 2, kReboot = 3, kIsolate = 4;

// The same numbers on every machine, which the distributions of the standard library do not
// guarantee.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  double unit() { return static_cast<double>(engine_() >> 11) / 9007199254740992.0; }
  bool chance(double part) { return unit() < part; }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(unit() * static_cast<double>(count));
  }
  // In steps of five seconds, like scrapes.
  seconds between(seconds least, seconds most) {
    return seconds(5 * std::llround((static_cast<double>(least.count()) +
                                     unit() * static_cast<double>((most - least).count())) /
                                    5));
  }

 private:
  std::mt19937_64 engine_;
};

class Simulation {
 public:
  explicit Simulation(const FleetSize& size) : size_(size), draws_(size.seed) {
    fleet_.end = hours(24) * size.days;
    for (std::size_t i = 0; i < size.nodes; ++i)
      fleet_.nodes.push_back({.name = "gpu-" + std::to_string(i)});
    busy_.resize(size.nodes);
  }

  Fleet run() && {
    for (const Kind& kind : kKinds) add_faults(kind);
    add_application_errors();
    for (std::size_t node = 0; node < size_.nodes; ++node) maintain(node);
    for (int upgrade = 0; upgrade < std::max(1, size_.days / 15); ++upgrade) upgrade_exporters();
    for (int cut = 0; cut < std::max(1, size_.days / 15); ++cut) cut_off_a_rack();
    for (int day = 1; day < size_.days; day += std::min(7, size_.days - 1)) {
      const seconds at = hours(24) * day + draws_.between(hours(1), hours(20));
      fleet_.prometheus.push_back({at, at + minutes(3)});
    }
    return std::move(fleet_);
  }

 private:
  void add_faults(const Kind& kind) {
    const double gpu_days = static_cast<double>(size_.nodes) * kGpusOfANode * size_.days;
    const double expected = kind.published * size_.fault_factor * gpu_days / kPublishedGpuDays;
    auto count = static_cast<int>(expected);
    if (draws_.chance(expected - count)) ++count;
    for (int i = 0; i < count; ++i) {
      const std::size_t node = draws_.below(size_.nodes);
      const seconds at = draws_.between(hours(2), fleet_.end - hours(4));
      if (at < busy_[node]) continue;
      begin(kind, node, at);
      busy_[node] = fleet_.faults.back().span.to + hours(1);
    }
  }

  void begin(const Kind& kind, std::size_t node, seconds at) {
    fleet_.faults.push_back(
        {.node = node, .kind = std::string(kind.name), .span = {at, at}, .states = {at}});
    Fault& fault = fleet_.faults.back();
    fault.takes_node_out = kind.course != Course::kWatched && kind.course != Course::kSilent;
    switch (kind.course) {
      case Course::kReset:
        return reset(kind, fault);
      case Course::kReboot:
        return reboot(fault);
      case Course::kIsolate:
        return replace(fault, std::string(kind.check), std::string(kind.code), at);
      case Course::kWatched:
        return watch(kind, fault);
      case Course::kFlapping:
        fault.is_worth_a_page = false;
        return flap(kind, fault, kMonitor);
      case Course::kFlappingReset:
        return flap(kind, fault, kReset);
      case Course::kSilent:
        fault.span.to = at + draws_.between(hours(2), hours(40));
        fleet_.nodes[node].down.push_back(fault.span);
        return;
    }
  }

  // Drained and reset within the hours that jobs get; one in seven needs an operator.
  void reset(const Kind& kind, Fault& fault) {
    const seconds at = fault.span.from;
    const bool is_held = draws_.chance(0.15);
    const seconds until = at + (is_held ? draws_.between(hours(20), hours(200))
                                        : draws_.between(minutes(15), hours(3)));
    find(fault, {at, until}, kind.check, kind.code, kReset);
    if (is_held) fleet_.held.push_back({at + hours(1), until});
    fault.span.to = until;
  }

  // At first only the driver reports it, now and then; one in seven is still missing after the
  // reboot.
  void reboot(Fault& fault) {
    const seconds at = fault.span.from;
    seconds confirmed = at;
    if (draws_.chance(0.3)) {
      confirmed += draws_.between(seconds(15), seconds(60));
      find(fault, {at, confirmed}, "gpu", "gpu_lost_unconfirmed", kMonitor);
      fault.states.push_back(confirmed);
    }
    const seconds off = confirmed + draws_.between(minutes(15), hours(2));
    const seconds on = off + draws_.between(minutes(5), minutes(14));
    find(fault, {confirmed, off}, "xid", "79", kReboot);
    find(fault, {confirmed, off}, "gpu", "gpu_lost", kReboot);
    fleet_.nodes[fault.node].down.push_back({off, on});
    fault.span.to = on;
    if (draws_.chance(0.15)) {
      fault.states.push_back(on);
      replace(fault, "gpu", "gpu_lost", on);
    }
  }

  // Lasts until the machine is replaced, which is absent for some hours then.
  void replace(Fault& fault, const std::string& check, const std::string& code, seconds at) {
    const seconds until = at + draws_.between(hours(12), hours(200));
    find(fault, {at, until}, check, code, kIsolate);
    fleet_.held.push_back({at + minutes(30), until});
    fleet_.nodes[fault.node].gone.push_back({until, until + draws_.between(hours(1), hours(4))});
    fault.span.to = until;
  }

  void watch(const Kind& kind, Fault& fault) {
    fault.span.to = fault.span.from + draws_.between(hours(1), hours(48));
    find(fault, fault.span, kind.check, kind.code, kMonitor);
  }

  void flap(const Kind& kind, Fault& fault, int severity) {
    const seconds end = fault.span.from + draws_.between(hours(1), hours(6));
    for (seconds at = fault.span.from; at < end;) {
      const seconds until = at + draws_.between(minutes(2), minutes(8));
      find(fault, {at, until}, kind.check, kind.code, severity);
      fault.span.to = until;
      at = until + draws_.between(minutes(2), minutes(8));
    }
  }

  // Errors of programs: three a node and month, only for dashboards.
  void add_application_errors() {
    const auto count = size_.nodes * static_cast<std::size_t>(size_.days) / 10;
    for (std::size_t i = 0; i < count; ++i) {
      const seconds at = draws_.between(hours(2), fleet_.end - hours(2));
      fleet_.nodes[draws_.below(size_.nodes)].findings.push_back(
          {{at, at + hours(1)}, "xid", draws_.chance(0.5) ? "31" : "13", kMonitor});
    }
  }

  // Once a month each node reboots; the container with its driver may take some minutes more.
  void maintain(std::size_t node) {
    if (!draws_.chance(size_.days / 30.0)) return;
    const seconds off = draws_.between(hours(3), fleet_.end - hours(3));
    const seconds on = off + draws_.between(minutes(6), minutes(13));
    if (is_faulty(node, {off - hours(1), on + hours(1)})) return;
    ++fleet_.maintenances;
    fleet_.nodes[node].down.push_back({off, on});
    if (draws_.chance(0.5)) {
      fleet_.nodes[node].findings.push_back(
          {{on, on + draws_.between(minutes(1), minutes(5))}, "gpu", "library_unusable", kMonitor});
    }
  }

  // Another pod replaces each pod within the hour.
  void upgrade_exporters() {
    const seconds begin = draws_.between(hours(3), fleet_.end - hours(5));
    for (std::size_t i = 0; i < size_.nodes; ++i) {
      const seconds at = begin + seconds(5 * (static_cast<std::int64_t>(i) * 720 /
                                              static_cast<std::int64_t>(size_.nodes)));
      fleet_.nodes[i].gone.push_back({at, at + draws_.between(seconds(15), seconds(70))});
      ++fleet_.exporter_restarts;
    }
  }

  void cut_off_a_rack() {
    const std::size_t first = draws_.below(size_.nodes - kNodesOfARack);
    const seconds at = draws_.between(hours(3), fleet_.end - hours(3));
    for (std::size_t i = 0; i < kNodesOfARack; ++i) {
      fleet_.nodes[first + i].down.push_back({at, at + minutes(5)});
    }
    ++fleet_.partitions;
  }

  void find(const Fault& fault, Span span, std::string_view check, std::string_view code,
            int severity) {
    fleet_.nodes[fault.node].findings.push_back(
        {span, std::string(check), std::string(code), severity});
  }
  [[nodiscard]] bool is_faulty(std::size_t node, Span span) const {
    return std::ranges::any_of(fleet_.faults, [&](const Fault& fault) {
      return fault.node == node && fault.span.from < span.to && span.from < fault.span.to;
    });
  }

  FleetSize size_;
  Draws draws_;
  Fleet fleet_;
  std::vector<seconds> busy_;
};

}  // namespace

Fleet simulate_fleet(const FleetSize& size) { return Simulation(size).run(); }

}  // namespace gpuward::alerts
