#include "exporter/checks/rules/gpu_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "exporter/checks/rules/expected_gpus.h"

namespace gpuward::exporter {
namespace {

void judge_gpu(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  judge_memory(reading, input, found);
  judge_state(reading, found);
  judge_slowdown(reading, found);
  judge_pcie(reading, input, found);
  if (reading.gpu.vendor != Vendor::kNvidia) return;
  judge_links(reading, input, found);
  judge_fabric(reading, input, found);
}

// The driver reports a fault instead of readings.
void judge_unreadable(const GpuReading& reading, FindingList& found) {
  const bool has_address = reading.gpu.has_address();
  const std::string bus_id = has_address ? reading.gpu.pci.bus_id() : "";
  const std::string name = has_address ? "" : "GPU " + std::to_string(reading.gpu.index) + ": ";
  found.add(Code::kGpuUnreadable, bus_id, name + reading.fault);
  found.cannot_tell_anything(bus_id);
}

// Returns true if every GPU could be read.
bool judge_readings(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  bool could_tell = true;
  for (const GpuReading& reading : report.gpus) {
    // No other source can identify a GPU without an address, so it cannot even be judged as lost.
    const bool has_address = reading.gpu.has_address();
    if (has_address && reading.is_lost) continue;  // judge_lost()
    if (has_address && reading.is_hung) {
      judge_hung_gpu(reading, input, found);
      continue;
    }
    if (!has_address || !reading.fault.empty()) {
      judge_unreadable(reading, found);
      could_tell = false;
    }
    if (has_address) judge_gpu(reading, input, found);
  }
  judge_lost(report, input, found);
  judge_undriven(report, input, found);
  return could_tell;
}

constexpr std::array kVendors{Vendor::kNvidia, Vendor::kAmd};

// "NVIDIA's driver library was not found", "libnvidia-ml.so.1: Driver/library version mismatch".
std::string library_text(const VendorReading& report) {
  if (report.state == LibraryState::kAbsent) {
    return report.vendor == Vendor::kAmd ? "the amdgpu driver is not loaded"
                                         : "NVIDIA's driver library was not found";
  }
  return (report.library.empty() ? "the GPU library" : report.library) + ": " + report.fault;
}

// A broken library says nothing about the hardware: an error, and never above monitor.
void judge_library(const VendorReading& report, const GpuRuleInput& input, FindingList& found) {
  const std::size_t on_bus = count_for_driver(input.facts, report.vendor);
  std::string line = library_text(report);
  line += "; " + std::to_string(on_bus) + " GPUs on the PCI bus";
  found.add(Code::kLibraryUnusable, "", line);
  found.cannot_tell_anything("");
}

// A library may be installed on a machine without GPUs. An unreadable bus does not prove that there
// are none.
bool is_expected(const VendorReading& report, const GpuRuleInput& input) {
  const bool is_bus_unknown = report.state == LibraryState::kUnusable && !input.facts.pci_gpus;
  return is_bus_unknown || expects_gpus(report.vendor, input);
}

struct Sum {
  std::size_t gpus = 0;
  bool could_tell = true;
  bool is_anything_here = false;
};

// The driver does not report this itself, because its other calls return.
void judge_events(const VendorReading& report, FindingList& found) {
  if (!report.has_hung_events) return;
  found.add(Code::kEventsHung, "",
            report.library + ": the call that waits for events does not return");
}

void judge_vendor(const VendorReading& report, const GpuRuleInput& input, FindingList& found,
                  Sum& sum) {
  if (report.state != LibraryState::kReady) {
    if (!is_expected(report, input)) return;
    judge_library(report, input, found);
    sum.could_tell = false;
  } else if (!judge_readings(report, input, found)) {
    sum.could_tell = false;
  }
  judge_events(report, found);
  judge_count(report, input, found);
  sum.gpus += report.gpus.size();
  sum.is_anything_here |= !report.gpus.empty() || is_expected(report, input);
}

constexpr std::array kOutOfReach{
    Code::kGpuLost, Code::kGpuLostUnconfirmed, Code::kGpuUndriven, Code::kGpuUndrivenUnconfirmed,
    Code::kGpuMissing, Code::kGpuMissingUnconfirmed, Code::kGpuUnreadable,
    // No CUDA program can start then (error 802).
    Code::kFabricNotReady, Code::kFabricError, Code::kDriverHung, Code::kDriverHungUnconfirmed};

// A job needs all GPUs, so one source is enough to keep it away.
std::string why_no_job(const CheckOutcome& outcome) {
  if (outcome.kind == CheckOutcome::Kind::kError) return outcome.details;
  std::vector<Finding> out_of_reach = outcome.findings;
  std::erase_if(out_of_reach,
                [](const Finding& finding) { return !is_any_of(finding.code, kOutOfReach); });
  return describe_findings(std::move(out_of_reach));
}

CheckOutcome finish(CheckOutcome outcome, FindingList& found) {
  const std::string described = describe_findings(found.findings());
  if (!described.empty()) outcome.details += (outcome.details.empty() ? "" : "; ") + described;
  outcome.findings = found.take_findings();
  outcome.untold = found.take_untold();
  outcome.suspected = found.take_suspected();
  outcome.no_job = why_no_job(outcome);
  return outcome;
}

CheckOutcome judge_report(const GpuReport& report, const GpuRuleInput& input) {
  FindingList found(input.settings);
  Sum sum;
  for (const Vendor vendor : kVendors) {
    const VendorReading* const known = report.find(vendor);
    VendorReading absent;  // the worker reports only vendors whose library is there
    absent.vendor = vendor;
    judge_vendor(known == nullptr ? absent : *known, input, found, sum);
  }
  if (!sum.is_anything_here) return CheckOutcome::skipped("no GPU here, and none is expected");
  CheckOutcome outcome = CheckOutcome::done(std::to_string(sum.gpus) + " GPUs");
  if (!sum.could_tell) outcome.kind = CheckOutcome::Kind::kError;
  return finish(std::move(outcome), found);
}

// The driver does not answer: known findings stay, and only the silence itself adds one.
CheckOutcome judge_silence(const GpuRuleInput& input, std::optional<Code> code) {
  FindingList found(input.settings);
  const GpuTelemetry& telemetry = input.snapshot.telemetry;
  if (!code) {
    judge_hang(input, found);
  } else {
    found.add(*code, "", telemetry.fault.empty() ? "the GPU worker exited" : telemetry.fault);
  }
  found.cannot_tell_anything("");
  return finish(CheckOutcome::error("the driver does not answer" +
                                    (telemetry.fault.empty() ? "" : ": " + telemetry.fault)),
                found);
}

CheckOutcome cannot_judge(std::string why) {
  CheckOutcome outcome = CheckOutcome::error(std::move(why));
  outcome.no_job = outcome.details;
  return outcome;
}

}  // namespace

CheckOutcome judge_gpus(const GpuRuleInput& input) {
  const GpuTelemetry& telemetry = input.snapshot.telemetry;
  if (!telemetry.is_asked) return CheckOutcome::skipped("drivers are not queried (--gpu.none)");
  switch (telemetry.state) {
    case WorkerState::kStarting:
      return cannot_judge("the driver has not answered yet");
    case WorkerState::kReleased:
      return CheckOutcome::skipped("the GPUs are released for another program");
    case WorkerState::kHung:
      return judge_silence(input, std::nullopt);
    case WorkerState::kCrashed:
      return judge_silence(input, Code::kWorkerCrashed);
    case WorkerState::kAnswering:
      break;
  }
  if (!telemetry.report) return cannot_judge("the driver has not answered yet");
  return judge_report(*telemetry.report, input);
}

}  // namespace gpuward::exporter
