#include "exporter/checks/rules/topology_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "exporter/checks/rules/topology_rules.h"
#include "exporter/host/pci.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

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
  const auto devices = list_pci_devices(host);
  facts.has_nvswitch = devices && std::ranges::any_of(*devices, is_nvswitch);
  if (!facts.has_nvswitch) return facts;
  const Processes processes = list_processes(host);
  facts.is_running = processes.find("nv-fabricmanager") != nullptr;
  facts.can_see_processes = processes.is_complete && sees_whole_node(processes);
  return facts;
}

const VendorReport* nvidia_report(const Snapshot& snapshot) {
  return snapshot.telemetry.report ? snapshot.telemetry.report->find(Vendor::kNvidia) : nullptr;
}

class TopologyCheck final : public Check {
 public:
  CheckOutcome run(const CheckContext& context) override {
    if (context.snapshot.telemetry.state != WorkerState::kAnswering) {
      return CheckOutcome::error("the driver does not answer: the topology is not known");
    }
    const VendorReport* const report = nvidia_report(context.snapshot);
    if (report != nullptr && report->state == LibraryState::kUnusable) {
      return CheckOutcome::error("the topology is not known: " + report->fault);
    }
    const WallTime now = context.clock.wall();
    const NodeFacts facts = facts_.read(context.host, context.snapshot, now);
    const GpuRuleInput input{context.snapshot, context.settings, context.profile, facts, now,
                             nullptr};
    if (report != nullptr && !report->gpus.empty()) return judge(*report, input, context);
    if (expects_gpus(Vendor::kNvidia, input)) {
      return CheckOutcome::error("the topology is not known: the driver speaks of no GPU");
    }
    return CheckOutcome::skipped("no NVIDIA GPU here");
  }

 private:
  CheckOutcome judge(const VendorReport& report, const GpuRuleInput& input,
                     const CheckContext& context) {
    FindingList found(context.settings);
    judge_nvlink_presence(report, input, found);
    judge_peers(report, input, found);
    const FabricManagerFacts manager = fabric_manager_facts(context.host);
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
    if (manager.has_nvswitch && !manager.is_running && !manager.can_see_processes) {
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
