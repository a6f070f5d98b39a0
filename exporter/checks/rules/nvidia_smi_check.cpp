#include "exporter/checks/rules/nvidia_smi_check.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/check/verdict.h"
#include "exporter/checks/rules/gpu_rules.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

bool has_code(const std::vector<Finding>& findings, const std::string& code,
              const std::string& pci_bus_id) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.check == kGpuCheck && finding.code == code && finding.pci_bus_id == pci_bus_id &&
           finding.severity != Severity::kNone;
  });
}

void leave_out_contradictions(const std::vector<Suspected>& suspected, std::vector<Finding>& all) {
  for (const auto& [confirmed, unconfirmed, pci_bus_id] : suspected) {
    if (!has_code(all, confirmed, pci_bus_id)) continue;
    std::erase_if(all, [&](const Finding& finding) {
      return finding.code == unconfirmed && finding.pci_bus_id == pci_bus_id;
    });
  }
}

// Returns the latched findings and those that this run has added.
std::vector<Finding> all_findings(const State& state, const CheckOutcome& judged) {
  const std::vector<Finding>& fresh = judged.findings;
  std::vector<Finding> all = fresh;
  for (const auto& [key, finding] : state.findings) {
    const bool is_own = finding.check == kNvidiaSmiCheck;  // of an earlier run
    if (is_own || !speaks_for(kNvidiaSmiCheck, finding)) continue;
    const bool is_known = std::ranges::any_of(fresh, [&](const Finding& other) {
      return other.check == finding.check && other.code == finding.code &&
             other.pci_bus_id == finding.pci_bus_id;
    });
    if (!is_known) all.push_back(finding);
  }
  leave_out_contradictions(judged.suspected, all);
  return all;
}

bool has_check(const std::vector<Finding>& findings, std::string_view check) {
  return std::ranges::find(findings, check, &Finding::check) != findings.end();
}

std::string details_of(const CheckOutcome& judged, const std::vector<Finding>& all) {
  // The first part of the rules' details is the count. describe_findings() lists all findings.
  std::string details = judged.details.substr(0, judged.details.find("; "));
  const std::string described = describe_findings(all);
  if (!described.empty()) details += "; " + described;
  const bool has_nvlink_xid = std::ranges::any_of(
      all, [](const Finding& each) { return each.check == "xid" && each.code == "74"; });
  if (has_nvlink_xid && has_check(all, "sxid")) {
    details += "; SXid together with Xid 74: the NVSwitch is the likely cause";
  }
  return details;
}

// A note in the details, not a fault of the node: a node without a profile can lose a GPU
// unnoticed.
std::string profile_text(const CheckContext& context) {
  if (context.profile) return {};
  return context.instance_type.empty()
             ? "; the instance type is not known"
             : "; instance type " + context.instance_type + " has no profile";
}

constexpr std::string_view kUnifiedMemory = "nvidia-uvm";

struct CoherentBusErrors {
  std::vector<std::string> confirmed;  // by a second source
  std::vector<std::string> unconfirmed;
};

// Returns the GPUs with an Xid 159. A finding of this check counts as measured, so a log line alone
// must not create one.
CoherentBusErrors gpus_with_xid_159(const State& state) {
  CoherentBusErrors gpus;
  for (const auto& [key, finding] : state.findings) {
    const bool is_said = finding.check == "xid" && finding.code == "159" &&
                         finding.severity != Severity::kNone &&
                         finding.evidence == Evidence::kKernel;
    if (!is_said) continue;
    const bool is_confirmed = finding.confirmed_severity() != Severity::kNone;
    (is_confirmed ? gpus.confirmed : gpus.unconfirmed).push_back(finding.pci_bus_id);
  }
  return gpus;
}

std::string without_witness(const std::vector<std::string>& gpus) {
  std::string text;
  for (const std::string& gpu : gpus) {
    text += text.empty() ? "" : "; ";
    text += "Xid 159 on " + gpu + " is not confirmed by a second source, so no reset is requested";
  }
  return text;
}

// The log line of Xid 159 does not say whether a reset is needed: it is if unified memory is in use
// (the vendor's CHECK_UVM). Returns what is unknown; empty if all is known.
std::string judge_unified_memory(const CheckContext& context, FindingList& found) {
  const CoherentBusErrors gpus = gpus_with_xid_159(context.snapshot.state);
  std::string untold = without_witness(gpus.unconfirmed);
  if (gpus.confirmed.empty()) return untold;
  const Processes processes = list_processes(context.host);
  const DeviceUsers users = list_device_users(context.host, processes, kUnifiedMemory);
  if (!users.all.empty()) {
    const Process& user = users.all.front().process;
    for (const std::string& gpu : gpus.confirmed) {
      found.add(Code::kXid159Uvm, gpu,
                user.name + " (pid " + std::to_string(user.pid) + ") uses unified memory");
    }
    return untold;
  }
  if (users.is_complete && sees_whole_node(processes)) return untold;
  return (untold.empty() ? "" : untold + "; ") +
         "cannot see which processes use unified memory (needs hostPID and root)";
}

class NvidiaSmiCheck final : public Check {
 public:
  CheckOutcome run(const CheckContext& context) override {
    const WallTime now = context.clock.wall();
    const NodeFacts facts = facts_.read(context.host, context.snapshot, now);
    CheckOutcome judged =
        judge_gpus({context.snapshot, context.settings, context.profile, facts, now, nullptr});
    const auto all = all_findings(context.snapshot.state, judged);
    if (judged.kind == CheckOutcome::Kind::kSkipped && all.empty()) return judged;
    FindingList own(context.settings);
    const std::string untold = judge_unified_memory(context, own);
    CheckOutcome outcome = CheckOutcome::done(details_of(judged, all), own.take_findings());
    for (const Finding& finding : outcome.findings) outcome.details += "; " + finding.line;
    if (!untold.empty()) outcome.details += "; " + untold;
    outcome.details += profile_text(context);
    outcome.kind = judged.kind == CheckOutcome::Kind::kError ? judged.kind : outcome.kind;
    outcome.latched = worst_of(all);
    outcome.no_job = judged.no_job;
    return outcome;
  }

 private:
  NodeFactsReader facts_;
};

}  // namespace

CheckEntry nvidia_smi_entry() {
  return {.number = 0,
          .name = std::string(kNvidiaSmiCheck),
          .short_name = "nvidia-smi",
          .suite = Suite::kLightweight,
          .rhythm = CheckEntry::Rhythm::kEachCycle,
          .timeout = std::chrono::seconds(30),
          .make = []() -> std::unique_ptr<Check> { return std::make_unique<NvidiaSmiCheck>(); }};
}

}  // namespace gpuward::exporter
