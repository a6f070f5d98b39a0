#include "exporter/checks/dcgm/dcgm_outcome.h"

#include <algorithm>
#include <set>
#include <utility>

#include "exporter/checks/check/finding_list.h"

namespace gpuward::exporter {
namespace {

std::string bus_id_of(const std::optional<int>& number, const DcgmDiagnostic& report,
                      const std::vector<Gpu>& gpus) {
  const Gpu* const gpu = number ? gpu_of_dcgm(*number, report, gpus) : nullptr;
  return gpu == nullptr ? std::string() : gpu->pci.bus_id();
}

std::vector<Finding> findings_of(const DcgmDiagnostic& report, const DcgmFaults& verdict,
                                 const std::vector<Gpu>& gpus) {
  std::vector<Finding> findings;
  for (const DcgmFault& fault : verdict.faults) {
    Finding finding;
    finding.code = fault.code;
    finding.pci_bus_id = bus_id_of(fault.gpu, report, gpus);
    finding.severity = fault.severity;
    finding.cleared_by = fault.cleared_by;
    finding.evidence = Evidence::kMeasured;
    finding.line = fault.line;
    if (fault.gpu && finding.pci_bus_id.empty())
      finding.line = "DCGM's GPU " + std::to_string(*fault.gpu) + ": " + finding.line;
    finding.why = fault.why;
    findings.push_back(std::move(finding));
  }
  return findings;
}

// NVIDIA GPUs of ours on which no test of the hardware has run.
std::vector<std::string> untested(const DcgmDiagnostic& report, const DcgmFaults& verdict,
                                  const std::vector<Gpu>& gpus) {
  std::set<std::string> tested;
  for (const int number : verdict.tested) tested.insert(bus_id_of(number, report, gpus));
  std::vector<std::string> missing;
  for (const Gpu& gpu : gpus) {
    if (gpu.vendor == Vendor::kNvidia && !tested.contains(gpu.pci.bus_id()))
      missing.push_back(gpu.pci.bus_id());
  }
  return missing;
}

std::string summary_of(const DcgmDiagnostic& report, const DcgmFaults& verdict) {
  std::string text = "DCGM" + (report.version.empty() ? "" : " " + report.version) + ": " +
                     std::to_string(verdict.passed) + " passed";
  if (verdict.warned != 0) text += ", " + std::to_string(verdict.warned) + " warned";
  if (verdict.failed != 0) text += ", " + std::to_string(verdict.failed) + " failed";
  if (verdict.skipped != 0) text += ", " + std::to_string(verdict.skipped) + " skipped";
  return text;
}

}  // namespace

const Gpu* gpu_of_dcgm(int number, const DcgmDiagnostic& report, const std::vector<Gpu>& gpus) {
  const auto is_ours = [](const Gpu& gpu) { return gpu.vendor == Vendor::kNvidia; };
  if (const auto serial = report.serials.find(number); serial != report.serials.end()) {
    const auto found = std::ranges::find_if(
        gpus, [&](const Gpu& gpu) { return is_ours(gpu) && gpu.serial == serial->second; });
    if (found != gpus.end()) return &*found;
  }
  const auto found = std::ranges::find_if(
      gpus, [&](const Gpu& gpu) { return is_ours(gpu) && gpu.index == number; });
  return found == gpus.end() ? nullptr : &*found;
}

CheckOutcome dcgm_outcome(const DcgmDiagnostic& report, const DcgmFaults& verdict,
                          const std::vector<Gpu>& gpus) {
  CheckOutcome outcome = CheckOutcome::done(summary_of(report, verdict));
  outcome.findings = findings_of(report, verdict, gpus);
  if (!outcome.findings.empty()) outcome.details += ": " + describe_findings(outcome.findings);
  if (!verdict.undecided.empty()) {
    outcome.kind = CheckOutcome::Kind::kError;
    outcome.details = verdict.undecided + "; " + outcome.details;
    return outcome;
  }
  if (verdict.tested.empty() && outcome.findings.empty())
    return CheckOutcome::skipped(outcome.details + ": DCGM has no test for these GPUs");
  for (const std::string& gpu : untested(report, verdict, gpus)) {
    outcome.details += "; no test has run on " + gpu;
    outcome.untold.push_back({"", gpu});
  }
  // A pass takes findings away from all GPUs: it takes a test of each.
  if (!outcome.untold.empty() && outcome.findings.empty())
    outcome.kind = CheckOutcome::Kind::kError;
  return outcome;
}

}  // namespace gpuward::exporter
