#include <algorithm>
#include <tuple>

#include "exporter/checks/check/finding_codes.h"
#include "exporter/pods/users.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"
#include "exporter/publish/node/condition_text.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using metrics::Labels;

struct SeenTimes {
  WallTime first = WallTime::max();
  WallTime last = WallTime::min();
};

void append_findings(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  constexpr metrics::LabelNames kLabels = {"check", "code", "pci_bus_id", "gpu"};
  auto& info = declare(
      families,
      {"gpuward_finding",
       "1 for each finding, until the event in `cleared_by` has happened. `evidence` is `kernel`, "
       "`user_space` or `measured`.",
       kGauge,
       {"check", "code", "pci_bus_id", "gpu", "severity", "evidence", "cleared_by"},
       "when nothing is wrong"});
  auto& first = declare(
      families, {"gpuward_finding_first_seen_timestamp_seconds", "When the finding was first seen.",
                 kGauge, kLabels, "when there is no finding"});
  auto& last = declare(
      families, {"gpuward_finding_last_seen_timestamp_seconds", "When the finding was last seen.",
                 kGauge, kLabels, "when there is no finding"});
  // A separate family, because a witness may come later and must not turn a finding into another
  // series.
  auto& witness = declare(
      families,
      {"gpuward_finding_witness_info",
       "1 for each kernel-log finding that a `witness` besides its log line confirms: a reading, "
       "the driver's own event, or a marked record. `severity` is the severity that it confirms.",
       kGauge,
       {"check", "code", "pci_bus_id", "gpu", "severity", "witness"},
       "without a witness"});
  std::map<Labels, SeenTimes> times;  // one entry for both kinds of evidence
  for (const auto& [key, finding] : snapshot.state.findings) {
    if (finding.severity == Severity::kNone) continue;  // remembered from an earlier boot
    const Labels labels = {key.check, key.code, key.pci_bus_id, gpus.index(key.pci_bus_id)};
    SeenTimes& seen = times[labels];
    seen.first = std::min(seen.first, finding.first_seen);
    seen.last = std::max(seen.last, finding.last_seen);
    info.add(
        labels,
        {to_string(finding.severity), to_string(finding.evidence), to_string(finding.cleared_by)},
        1);
    if (finding.witness.empty()) continue;
    witness.add(labels, {to_string(finding.witnessed), finding.witness}, 1);
  }
  for (const auto& [labels, seen] : times) {
    first.add(labels, seen.first);
    last.add(labels, seen.last);
  }
}

// Announcements are left out, because they say nothing about the health of the node.
enum class Counted : bool { kAll, kConfirmed };
Severity worst(const State& state, Counted counted) {
  Severity severity = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    if (key.check == kAnnouncementsCheck) continue;
    severity = std::max(
        severity, counted == Counted::kConfirmed ? finding.confirmed_severity() : finding.severity);
  }
  return severity;
}

// Returns true for a measurement of a check in the current boot.
bool is_measured_now(const State& state, const Finding& finding) {
  return finding.evidence == Evidence::kMeasured && !state.boot_id.empty() &&
         finding.last_boot_id == state.boot_id;
}

void append_observed_times(const State& state, Families& families) {
  auto& times = declare(families, {"gpuward_node_severity_observed_timestamp_seconds",
                                   "When a check last measured, in this boot, that the node has "
                                   "this severity (`reset`, `reboot`, `isolate`) or a worse one; "
                                   "0: never. A line of the kernel log is not a measurement.",
                                   kGauge,
                                   {"severity"}});
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate}) {
    WallTime last{};
    for (const auto& [key, finding] : state.findings) {
      if (finding.severity >= severity && is_measured_now(state, finding))
        last = std::max(last, finding.last_seen);
    }
    times.add({to_string(severity)}, last);
  }
}

Severity worst_of_diagnostics(const State& state) {
  Severity severity = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    if (finding.cleared_by == ClearedBy::kDiagnostics && is_measured_now(state, finding))
      severity = std::max(severity, finding.severity);
  }
  return severity;
}

// Returns true if this process has not checked everything yet, or it is too soon to judge a
// finding.
bool is_unsettled(const Snapshot& snapshot) {
  const State& state = snapshot.state;
  if (!snapshot.health.awaited.empty() || is_released(snapshot)) return true;
  if (unchecked_finding(state) != nullptr) return true;
  return std::ranges::any_of(state.findings, [&](const auto& known) {
    const Finding& finding = known.second;
    return finding.is_too_soon && finding.severity != Severity::kNone &&
           is_measured_now(state, finding);
  });
}

// Returns the severity of every GPU of the inventory and of every address in an Xid or an AMD
// event.
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
  auto& gpu =
      declare(families,
              {"gpuward_gpu_severity",
               "Worst finding of the GPU, and the pods that use it: at most four, separated by "
               "commas. A new pod is a new series: use `max without (namespace, pod)` for the GPU.",
               kGauge,
               {"gpu", "uuid", "pci_bus_id", "namespace", "pod"},
               "for GPUs that neither the inventory nor a finding names"});
  std::map<std::string, std::vector<Workload>> users;
  for (const Gpu& one : snapshot.gpus) users[one.pci.bus_id()] = users_of(one, snapshot);
  for (const auto& [bus_id, severity] : gpu_severities(snapshot)) {
    gpu.add(gpus.of(bus_id), {namespaces_of(users[bus_id]), pods_of(users[bus_id])}, severity);
  }
  declare(families, {"gpuward_node_severity", "Worst finding of the node, whatever its evidence."},
          worst(snapshot.state, Counted::kAll));
  declare(families,
          {"gpuward_node_confirmed_severity",
           "Worst finding of the node that is supported by more than a kernel-log line: by a "
           "reading or a line with a witness (`gpuward_finding_witness_info`). Only such findings "
           "lead to a drain, reset or restart."},
          worst(snapshot.state, Counted::kConfirmed));
  append_observed_times(snapshot.state, families);
  declare(families,
          {"gpuward_node_diagnostics_severity",
           "Worst finding that only diagnostics clear and that a check measured in this boot."},
          worst_of_diagnostics(snapshot.state));
  declare(families,
          {"gpuward_node_unsettled",
           "1 while the GPUs are released, or a quick check has had no result since the exporter "
           "started or that release ended, has not rechecked "
           "what it found before this boot, or last ran less than `gpu.settling_time` after the "
           "boot or driver load, so that its finding is limited to `monitor`. While 1, the node is "
           "not returned to service."},
          is_unsettled(snapshot) ? 1 : 0);
}

void append_drills(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  constexpr std::string_view kInDrill = "while no drill runs";
  auto& active =
      declare(families, {"gpuward_drill_active",
                         "1 for each fault that `gpuward-exporter inject` has injected for a "
                         "drill. It is not a finding; only the drill series show it.",
                         kGauge,
                         {"check", "code", "pci_bus_id", "gpu", "severity"},
                         kInDrill});
  auto& until = declare(families, {"gpuward_drill_end_timestamp_seconds",
                                   "When the drill ends by itself.",
                                   kGauge,
                                   {"check", "code", "pci_bus_id", "gpu"},
                                   kInDrill});
  Severity worst_drill = Severity::kNone;
  for (const Drill& drill : snapshot.drills) {
    const Finding& finding = drill.finding;
    const Labels labels = {finding.check, finding.code, finding.pci_bus_id,
                           gpus.index(finding.pci_bus_id)};
    active.add(labels, {to_string(finding.severity)}, 1);
    until.add(labels, drill.until);
    worst_drill = std::max(worst_drill, finding.severity);
  }
  declare(families,
          {"gpuward_drill_severity", "Worst severity of the drills; 0 while none is running."},
          worst_drill);
}

void append_gpus(const Snapshot& snapshot, const GpuLabels& gpus, Families& families) {
  auto& info =
      declare(families, {"gpuward_gpu_info",
                         "1 for each GPU in the inventory. The partition labels (such as SPX, "
                         "NPS1) are set for AMD's GPUs only.",
                         kGauge,
                         {"gpu", "uuid", "pci_bus_id", "name", "serial", "vendor", "vbios_version",
                          "part_number", "compute_partition", "memory_partition"},
                         "without an inventory"});
  for (const Gpu& gpu : snapshot.gpus) {
    const GpuReading* const known = reading_of(gpu, snapshot.telemetry);
    const GpuReading reading = known == nullptr ? GpuReading() : *known;
    info.add(gpus.of(gpu.pci.bus_id()),
             {gpu.name, gpu.serial, to_string(gpu.vendor), reading.vbios_version,
              reading.part_number, reading.compute_partition, reading.memory_partition},
             1);
  }
}

}  // namespace

void append_finding_families(const Snapshot& snapshot, Families& families) {
  const GpuLabels gpus(snapshot);
  append_findings(snapshot, gpus, families);
  append_severities(snapshot, gpus, families);
  append_gpus(snapshot, gpus, families);
  append_drills(snapshot, gpus, families);
  declare(families,
          {"gpuward_findings_updated_timestamp_seconds",
           "When a finding last appeared, changed or ended; 0: never."},
          snapshot.state.findings_updated);
}

}  // namespace gpuward::exporter
