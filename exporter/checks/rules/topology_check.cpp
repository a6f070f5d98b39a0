#include "exporter/checks/rules/topology_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/counter_trend.h"
#include "exporter/checks/rules/expected_links.h"
#include "exporter/checks/rules/gpu_rules.h"
#include "exporter/checks/rules/second_source.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

// What check 3 looks for, as rules on one reading of the GPUs: links, paths between them, the
// fabric. Used by TopologyCheck. Pure, but for the trend that the caller keeps.

struct FabricManagerFacts {
  bool can_see_processes = false;
  bool is_running = false;
};

// DCGM's health watch, DCGM_LIMIT_MAX_NVLINK_CRC_ERROR: below that they do not matter.
constexpr double kMostCrcErrorsPerSecond = 100;
constexpr std::uint32_t kSameBoard = 0;  // NVML_TOPOLOGY_INTERNAL
constexpr std::size_t kMostPairsNamed = 8;

// With MIG a GPU has no peers.
bool any_in_mig(const VendorReading& report) {
  return std::ranges::any_of(report.gpus,
                             [](const GpuReading& gpu) { return gpu.mig_enabled.value_or(false); });
}

struct LinkSum {
  std::size_t active = 0, inactive = 0;
};

LinkSum count_links(const VendorReading& report) {
  LinkSum sum;
  for (const GpuReading& gpu : report.gpus) {
    for (const Link& link : gpu.links) {
      if (!link.active) continue;
      ++(*link.active ? sum.active : sum.inactive);
    }
  }
  return sum;
}

bool is_bad(const Maybe<std::uint32_t>& status) { return status.value_or(0) != 0; }

bool all_peers_lack_nvlink(const VendorReading& report) {
  return !report.peers.empty() && std::ranges::all_of(report.peers, [](const PeerStatus& peer) {
    return is_bad(peer.nvlink_status);
  });
}

std::string pair_text(const PeerStatus& peer) {
  return std::to_string(peer.from) + "-" + std::to_string(peer.to);
}

struct Pairs {
  std::string named;
  std::size_t count = 0;
  void add(const PeerStatus& peer) {
    if (++count <= kMostPairsNamed) named += (named.empty() ? "" : ", ") + pair_text(peer);
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(count) + " pairs: " + named + (count > kMostPairsNamed ? ", ..." : "");
  }
};

struct LinkErrors {
  std::uint64_t recoveries = 0, crc = 0;
};

LinkErrors sum_errors(const GpuReading& gpu) {
  LinkErrors sum;
  for (const Link& link : gpu.links) {
    sum.recoveries += link.recovery_errors.value_or(0) + link.replay_errors.value_or(0) +
                      link.effective_errors.value_or(0);
    sum.crc += link.crc_flit_errors.value_or(0) + link.crc_data_errors.value_or(0);
  }
  return sum;
}

bool has_nvlink_to_judge(const VendorReading& report, const GpuRuleInput& input) {
  return nvlink_sources(input).any() && !any_in_mig(report) && report.gpus.size() >= 2;
}

// GPUs that say nothing of their links.
std::size_t count_silent(const VendorReading& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.gpus, is_silent));
}

// False where links are expected, and neither they nor the peers are reported.
bool knows_nvlink(const VendorReading& report, const GpuRuleInput& input) {
  const LinkSum links = count_links(report);
  return !has_nvlink_to_judge(report, input) || links.active + links.inactive > 0 ||
         !report.peers.empty();
}

// The links come up with the fabric: `fabric_not_ready` says it then.
bool is_fabric_unready(const VendorReading& report) {
  return std::ranges::any_of(report.gpus, [](const GpuReading& gpu) {
    return gpu.fabric.state == kFabricNotStarted || gpu.fabric.state == kFabricInProgress;
  });
}

// The seed profile waits for nothing, as the replaced suite.
void add_once_settled(Code code, const std::string& line, const GpuRuleInput& input,
                      FindingList& found) {
  if (input.settings.is_seed_profile || is_settled(input))
    return add_as_profile_says(code, "", line, input, found);
  found.add_too_soon(code, "", line);
}

// Not one NVLink where they are expected. Needs two indications: links that say so, or
// peers.
void judge_nvlink_presence(const VendorReading& report, const GpuRuleInput& input,
                           FindingList& found) {
  if (!has_nvlink_to_judge(report, input)) return;
  const LinkSum links = count_links(report);
  if (links.active > 0) return;
  if (links.inactive == 0 && !all_peers_lack_nvlink(report)) {
    return found.cannot_tell(Code::kNvlinkAbsent, "");
  }
  const std::string line = links.inactive > 0
                               ? "none of " + std::to_string(links.inactive) + " links is active"
                               : std::string("no pair of GPUs is joined by NVLink");
  if (is_fabric_unready(report) && !input.settings.is_seed_profile) {
    return found.add_as(Code::kNvlinkAbsent, Severity::kMonitor, "", line,
                        "the NVLink fabric is not ready");
  }
  add_once_settled(Code::kNvlinkAbsent, line, input, found);
}

// Each pair of GPUs of the peer-to-peer matrix, not only each GPU.
void judge_peers(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  if (any_in_mig(report)) return;
  Pairs broken, unsupported;
  for (const PeerStatus& peer : report.peers) {
    if (peer.from == peer.to) continue;
    const bool is_unreachable = is_bad(peer.read_status) || is_bad(peer.write_status);
    if (peer.topology == kSameBoard && is_unreachable) {
      broken.add(peer);
    } else if (is_unreachable || is_bad(peer.nvlink_status)) {
      unsupported.add(peer);
    }
  }
  if (broken.count > 0) found.add(Code::kTopologyBroken, "", broken.text());
  if (unsupported.count > 0 && expects_all_joined(input)) {
    found.add(Code::kP2pUnsupported, "", unsupported.text());
  }
}

// Errors of the links since the last call; the first call only looks.
void judge_link_errors(const VendorReading& report, WallTime now, CounterTrend& trend,
                       FindingList& found) {
  for (const GpuReading& gpu : report.gpus) {
    if (gpu.links.empty()) continue;
    const std::string bus_id = gpu.gpu.pci.bus_id();
    const LinkErrors sum = sum_errors(gpu);
    const auto recoveries = trend.add(bus_id + " recoveries", sum.recoveries, now);
    if (recoveries && recoveries->by > 0) {
      found.add(Code::kNvlinkRecoveryErrors, bus_id,
                std::to_string(recoveries->by) +
                    " NVLink recovery, replay or effective errors since the last check");
    }
    const auto crc = trend.add(bus_id + " crc", sum.crc, now);
    if (crc && crc->per_second >= kMostCrcErrorsPerSecond) {
      found.add(
          Code::kNvlinkCrcErrors, bus_id,
          std::to_string(static_cast<std::uint64_t>(crc->per_second)) + " CRC errors per second");
    }
  }
}

void judge_fabric_manager(const FabricManagerFacts& facts, const VendorReading& report,
                          const GpuRuleInput& input, FindingList& found) {
  if (!input.facts.has_nvswitch || facts.is_running) return;
  if (!facts.can_see_processes) {
    found.cannot_tell(Code::kFabricManagerDown, "");
    return found.cannot_tell(Code::kFabricManagerDownCompleted, "");
  }
  const std::string line = "nv-fabricmanager is not running";
  if (is_fabric_completed(report)) return found.add(Code::kFabricManagerDownCompleted, "", line);
  add_once_settled(Code::kFabricManagerDown, line, input, found);
}

// What check "gpu" finds of it every few seconds; here it is only spoken for.
constexpr std::array kSpokenFor{Code::kNvlinkInactive,
                                Code::kFabricNotReady,
                                Code::kFabricError,
                                Code::kFabricUnhealthy,
                                Code::kGpuMissing,
                                Code::kGpuMissingUnconfirmed,
                                Code::kGpuUndriven,
                                Code::kGpuLost,
                                Code::kGpuUndrivenUnconfirmed,
                                Code::kGpuLostUnconfirmed,
                                Code::kGpuUnreadable,
                                Code::kResetRequired,
                                Code::kDriverHung,
                                Code::kDriverHungUnconfirmed};

std::vector<Finding> latched_findings(const State& state) {
  std::vector<Finding> latched;
  for (const auto& [key, finding] : state.findings) {
    if (key.check == kGpuCheck && is_any_of(finding.code, kSpokenFor)) latched.push_back(finding);
  }
  return latched;
}

FabricManagerFacts fabric_manager_facts(const HostPaths& host) {
  FabricManagerFacts facts;
  const Processes processes = list_processes(host);
  facts.is_running = find_of_root(host, processes, "nv-fabricmanager") != nullptr;
  facts.can_see_processes = processes.is_complete && sees_whole_node(processes);
  return facts;
}

const VendorReading* nvidia_report(const Snapshot& snapshot) {
  return snapshot.telemetry.report ? snapshot.telemetry.report->find(Vendor::kNvidia) : nullptr;
}

class TopologyCheck final : public Check {
 public:
  CheckOutcome run(const CheckContext& context) override {
    if (context.snapshot.telemetry.state != WorkerState::kAnswering) {
      return CheckOutcome::error("the driver does not answer: the topology is not known");
    }
    const VendorReading* const report = nvidia_report(context.snapshot);
    if (report != nullptr && report->state == LibraryState::kUnusable) {
      return CheckOutcome::error("the topology is not known: " + report->fault);
    }
    const WallTime now = context.clock.wall();
    const NodeFacts facts = facts_.read(context.host, context.snapshot, now);
    const GpuRuleInput input{context.snapshot, context.settings, context.profile, facts, now,
                             nullptr};
    if (report != nullptr && !report->gpus.empty()) return judge(*report, input, context);
    if (expects_gpus(Vendor::kNvidia, input)) {
      return CheckOutcome::error("the topology is not known: the driver lists no GPU");
    }
    return CheckOutcome::skipped("no NVIDIA GPU here");
  }

 private:
  CheckOutcome judge(const VendorReading& report, const GpuRuleInput& input,
                     const CheckContext& context) {
    FindingList found(context.settings);
    judge_nvlink_presence(report, input, found);
    judge_peers(report, input, found);
    const bool has_nvswitch = input.facts.has_nvswitch;
    const auto manager = has_nvswitch ? fabric_manager_facts(context.host) : FabricManagerFacts{};
    judge_fabric_manager(manager, report, input, found);
    judge_link_errors(report, input.now, link_errors_, found);
    auto all = latched_findings(context.snapshot.state);
    CheckOutcome outcome = CheckOutcome::done(std::to_string(report.gpus.size()) + " GPUs");
    outcome.latched = worst_of(all);
    if (const auto silent = count_silent(report); silent > 0) {
      outcome.kind = CheckOutcome::Kind::kError;
      outcome.details += "; " + std::to_string(silent) + " do not answer";
    } else if (!knows_nvlink(report, input)) {
      outcome.kind = CheckOutcome::Kind::kError;
      outcome.details += "; the driver does not say whether they are joined by NVLink";
    }
    if (has_nvswitch && !manager.is_running && !manager.can_see_processes) {
      outcome.details += "; nv-fabricmanager cannot be seen from here (needs hostPID)";
    }
    all.insert(all.end(), found.findings().begin(), found.findings().end());
    if (!all.empty()) outcome.details += "; " + describe_findings(all);
    outcome.findings = found.take_findings();
    outcome.untold = found.take_untold();
    return outcome;
  }

  NodeFactsReader facts_;
  // From one look to the next.
  CounterTrend link_errors_{std::chrono::seconds(0), std::chrono::seconds(1)};
};

}  // namespace

CheckEntry topology_entry() {
  return {.number = 3,
          .name = "3-topology-check",
          .short_name = "topology",
          .suite = Suite::kLightweight,
          .rhythm = CheckEntry::Rhythm::kEachCycle,
          .timeout = std::chrono::seconds(30),
          .make = []() -> std::unique_ptr<Check> { return std::make_unique<TopologyCheck>(); }};
}

}  // namespace gpuward::exporter
