#include "exporter/publish/node/condition_text.h"

#include <algorithm>
#include <vector>

#include "core/runtime/text.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostMessageBytes = 1024;
constexpr std::size_t kMostLineBytes = 240;
constexpr std::size_t kMostFindings = 3;

std::string place_of(const Snapshot& snapshot, const Finding& finding) {
  if (finding.pci_bus_id.empty()) return {};
  std::string text = " on " + finding.pci_bus_id;
  for (const Gpu& gpu : snapshot.gpus) {
    if (gpu.pci.bus_id() == finding.pci_bus_id) text += " (GPU " + std::to_string(gpu.index) + ")";
  }
  return text;
}

std::string count_of(const Snapshot& snapshot) {
  const std::size_t gpus = snapshot.gpus.size();
  return std::to_string(gpus) + (gpus == 1 ? " GPU is up" : " GPUs are up");
}

}  // namespace

std::string describe(const Snapshot& snapshot, const Finding& finding) {
  std::string text(severity_word(finding.severity));
  text += ": " + finding.check;
  if (!finding.code.empty()) text += " " + finding.code;
  text += place_of(snapshot, finding);
  const std::string& what = finding.line.empty() ? finding.why : finding.line;
  if (!what.empty()) text += ": " + to_valid_utf8(what, kMostLineBytes);
  return text;
}

std::string broken_message(const Snapshot& snapshot) {
  std::vector<const Finding*> worst;
  for (const Severity severity : {Severity::kIsolate, Severity::kReboot, Severity::kReset}) {
    for (const auto& [key, finding] : snapshot.state.findings) {
      if (finding.severity == severity) worst.push_back(&finding);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(worst.size(), kMostFindings); ++i) {
    if (i != 0) text += "; ";
    text += describe(snapshot, *worst[i]);
  }
  if (worst.size() > kMostFindings)
    text += "; " + std::to_string(worst.size() - kMostFindings) + " more";
  return to_valid_utf8(text, kMostMessageBytes);
}

std::string untold_message(const Snapshot& snapshot) {
  for (const auto& [name, result] : snapshot.state.checks) {
    if (result.status != CheckStatus::kError) continue;
    return to_valid_utf8(name + " was inconclusive: " + result.details, kMostMessageBytes);
  }
  if (const auto& fault = snapshot.health.kernel_log_fault)
    return to_valid_utf8("the kernel log cannot be read: " + *fault, kMostMessageBytes);
  if (snapshot.gpus.empty()) return "no GPU is known on this node";
  const Finding* const unchecked = unchecked_finding(snapshot.state);
  if (unchecked == nullptr) return "not checked yet in this boot";
  return to_valid_utf8(unchecked->check + " has found " + unchecked->code +
                           " before this boot and has reported no result for it since",
                       kMostMessageBytes);
}

bool is_released(const Snapshot& snapshot) {
  return snapshot.health.release || snapshot.telemetry.state == WorkerState::kReleased;
}

const Finding* unchecked_finding(const State& state) {
  const auto found = std::ranges::find_if(state.findings, [](const auto& entry) {
    return entry.second.severity == Severity::kNone &&
           entry.second.cleared_by == ClearedBy::kCheck && entry.first.check != kAnnouncementsCheck;
  });
  return found == state.findings.end() ? nullptr : &found->second;
}

std::string well_message(const Snapshot& snapshot) {
  const auto watched = std::ranges::count_if(snapshot.state.findings, [](const auto& entry) {
    return entry.second.severity == Severity::kMonitor;
  });
  if (watched == 0) return count_of(snapshot);
  return count_of(snapshot) + "; findings of severity monitor: " + std::to_string(watched);
}

}  // namespace gpuward::exporter
