#include "exporter/checks/rules/gpu_evaluator.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "exporter/checks/check/decide.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/witness.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::minutes kHeldFor{10};
constexpr std::array kComeAndGo{Code::kThermalSlowdown, Code::kHwSlowdown, Code::kPowerBrake,
                                Code::kPcieGeneration, Code::kPcieReplays};

bool comes_and_goes(const Finding& finding) { return is_any_of(finding.code, kComeAndGo); }

}  // namespace

CheckResult GpuEvaluator::evaluate(const Snapshot& snapshot, const CheckSettings& settings,
                                   const std::optional<InstanceProfile>& profile,
                                   const NodeFacts& facts, WallTime now) {
  if (snapshot.telemetry.report) sample(*snapshot.telemetry.report, now);
  const auto replays = [this](const std::string& bus_id) -> std::optional<double> {
    const auto known = replays_per_minute_.find(bus_id);
    return known == replays_per_minute_.end() ? std::nullopt : std::optional(known->second);
  };
  const GpuRuleInput input{snapshot, settings, profile, facts, now, replays};
  CheckOutcome outcome = judge_gpus(input);
  hold(outcome, now);
  auto witnessed = witnessed_findings(input, outcome.findings);
  CheckResult result =
      decide_status(std::move(outcome), kGpuCheck, {now, std::chrono::milliseconds(0)},
                    check_findings(snapshot.state, kGpuCheck));
  result.witnessed = std::move(witnessed);
  result.recovered = recovered_gpus(input);
  result.allowed = allowed_errors(input);
  return result;
}

void GpuEvaluator::sample(const GpuReport& report, WallTime now) {
  replays_per_minute_.clear();
  for (const VendorReading& vendor : report.vendors) {
    for (const GpuReading& reading : vendor.gpus) {
      if (!reading.pcie.replays) continue;
      const std::string bus_id = reading.gpu.pci.bus_id();
      const auto growth = replays_.add(bus_id, *reading.pcie.replays, now);
      if (growth) replays_per_minute_[bus_id] = growth->per_second * 60;
    }
  }
  replays_.forget_before(now);
}

void GpuEvaluator::hold(CheckOutcome& outcome, WallTime now) {
  for (const Finding& finding : outcome.findings) {
    if (comes_and_goes(finding)) held_[{finding.code, finding.pci_bus_id}] = now;
  }
  std::erase_if(held_, [&](const auto& entry) { return now - entry.second >= kHeldFor; });
  for (const auto& [key, seen] : held_) {
    if (seen != now) outcome.untold.push_back({key.first, key.second});
  }
}

}  // namespace gpuward::exporter
