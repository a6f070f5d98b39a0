#include <algorithm>
#include <optional>
#include <tuple>

#include "core/metrics/process.h"
#include "exporter/pods/users.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::Type;

struct SeenTimes {
  WallTime first = WallTime::max();
  WallTime last = WallTime::min();
};

void append_findings(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  Family info{"gpuward_finding",
              "What is wrong, until what clears it has happened; 1 for each finding.",
              Type::kGauge,
              {}};
  Family first{"gpuward_finding_first_seen_timestamp_seconds",
               "When the finding was first seen.",
               Type::kGauge,
               {}};
  Family last{"gpuward_finding_last_seen_timestamp_seconds",
              "When the finding was last seen.",
              Type::kGauge,
              {}};
  std::map<Labels, SeenTimes> times;  // one for both kinds of evidence
  for (const auto& [key, finding] : snapshot.state.findings) {
    if (finding.severity == Severity::kNone) continue;  // only remembered
    Labels labels = {{"check", key.check},
                     {"code", key.code},
                     {"pci_bus_id", key.pci_bus_id},
                     {"gpu", gpus.index(key.pci_bus_id)}};
    SeenTimes& seen = times[labels];
    seen.first = std::min(seen.first, finding.first_seen);
    seen.last = std::max(seen.last, finding.last_seen);
    labels.emplace_back("severity", to_string(finding.severity));
    labels.emplace_back("evidence", to_string(finding.evidence));
    labels.emplace_back("cleared_by", to_string(finding.cleared_by));
    info.samples.push_back({std::move(labels), 1});
  }
  for (const auto& [labels, seen] : times) {
    first.samples.push_back({labels, to_seconds(seen.first)});
    last.samples.push_back({labels, to_seconds(seen.last)});
  }
  families.push_back(std::move(info));
  families.push_back(std::move(first));
  families.push_back(std::move(last));
}

double worst(const State& state, std::optional<Evidence> left_out = {}) {
  Severity severity = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    if (key.evidence == left_out) continue;
    severity = std::max(severity, finding.severity);
  }
  return static_cast<double>(severity);
}

// What a check of ours has measured in the boot that runs.
bool is_measured_now(const State& state, const Finding& finding) {
  return finding.evidence == Evidence::kMeasured && !state.boot_id.empty() &&
         finding.last_boot_id == state.boot_id;
}

Family observed_times(const State& state) {
  Family times{"gpuward_node_severity_observed_timestamp_seconds",
               "When a check last measured, in this boot, that the node is that bad or worse; 0 "
               "where none has.",
               Type::kGauge,
               {}};
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    WallTime last{};
    for (const auto& [key, finding] : state.findings) {
      if (finding.severity >= severity && is_measured_now(state, finding))
        last = std::max(last, finding.last_seen);
    }
    times.samples.push_back({{{"severity", std::string(to_string(severity))}}, to_seconds(last)});
  }
  return times;
}

double worst_of_diagnostics(const State& state) {
  Severity severity = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    if (finding.cleared_by == ClearedBy::kDiagnostics && is_measured_now(state, finding))
      severity = std::max(severity, finding.severity);
  }
  return static_cast<double>(severity);
}

// Every GPU of the inventory, and every address that an Xid or an AMD event has named.
std::map<std::string, Severity> gpu_severities(const Snapshot& snapshot) {
  std::map<std::string, Severity> severities;
  for (const Gpu& gpu : snapshot.gpus) severities[gpu.pci.bus_id()] = Severity::kNone;
  for (const auto& [key, finding] : snapshot.state.findings) {
    const bool is_gpu = key.check == "xid" || key.check.starts_with("amd_");
    const bool is_known = severities.contains(key.pci_bus_id);
    if (key.pci_bus_id.empty() || !(is_gpu || is_known)) continue;
    Severity& severity = severities[key.pci_bus_id];
    severity = std::max(severity, finding.severity);
  }
  return severities;
}

void append_severities(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  Family gpu{"gpuward_gpu_severity",
             "Worst finding of the GPU: 0 none, 1 monitor, 2 reset, 3 reboot, 4 isolate.",
             Type::kGauge,
             {}};
  std::map<std::string, std::vector<Workload>> users;
  for (const Gpu& one : snapshot.gpus) users[one.pci.bus_id()] = users_of(one, snapshot);
  for (const auto& [bus_id, severity] : gpu_severities(snapshot)) {
    Labels labels = gpus.of(bus_id);
    labels.emplace_back("namespace", namespaces_of(users[bus_id]));
    labels.emplace_back("pod", pods_of(users[bus_id]));
    gpu.samples.push_back({std::move(labels), static_cast<double>(severity)});
  }
  families.push_back(std::move(gpu));
  families.push_back(
      metrics::gauge("gpuward_node_severity",
                     "Worst finding of the node: 0 none, 1 monitor, 2 reset, 3 reboot, 4 isolate.",
                     worst(snapshot.state)));
  families.push_back(metrics::gauge("gpuward_node_kernel_severity",
                                    "The same without what only lines written by user space say.",
                                    worst(snapshot.state, Evidence::kUserSpace)));
  families.push_back(observed_times(snapshot.state));
  families.push_back(metrics::gauge("gpuward_node_diagnostics_severity",
                                    "Worst of what a diagnostic has found in this boot.",
                                    worst_of_diagnostics(snapshot.state)));
}

void append_gpus(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  Family info{"gpuward_gpu_info", "The GPUs of the node.", Type::kGauge, {}};
  for (const Gpu& gpu : snapshot.gpus) {
    Labels labels = gpus.of(gpu.pci.bus_id());
    labels.emplace_back("name", gpu.name);
    labels.emplace_back("serial", gpu.serial);
    labels.emplace_back("vendor", to_string(gpu.vendor));
    const GpuReading* const reading = reading_of(gpu, snapshot.telemetry);
    const auto text = [&](std::string GpuReading::* member) {
      return reading == nullptr ? std::string() : reading->*member;
    };
    labels.emplace_back("vbios_version", text(&GpuReading::vbios_version));
    labels.emplace_back("part_number", text(&GpuReading::part_number));
    labels.emplace_back("compute_partition", text(&GpuReading::compute_partition));
    labels.emplace_back("memory_partition", text(&GpuReading::memory_partition));
    info.samples.push_back({std::move(labels), 1});
  }
  families.push_back(std::move(info));
}

}  // namespace

void append_finding_families(const Snapshot& snapshot, Families& families) {
  const GpuLabels gpus(snapshot);
  append_findings(snapshot, gpus, families);
  append_severities(snapshot, gpus, families);
  append_gpus(snapshot, gpus, families);
  families.push_back(
      metrics::gauge("gpuward_findings_updated_timestamp_seconds",
                     "When a finding last came, changed or went; 0 where none ever has.",
                     to_seconds(snapshot.state.findings_updated)));
}

}  // namespace gpuward::exporter
