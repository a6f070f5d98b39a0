#include <algorithm>
#include <array>
#include <cstdio>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/efa/efa_loopback_check.h"

namespace gpuward::exporter {
namespace {

std::string gbits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f Gbit/s", value);
  return text.data();
}

void judge(const LoopbackResult& result, const CheckSettings& settings, FindingList& found) {
  if (!result.gbits) {
    found.add(Code::kEfaLoopbackFailed, result.pci_bus_id, result.domain + ": " + result.failure);
  } else if (*result.gbits < settings.efa_min_gbits) {
    found.add(Code::kEfaLoopbackSlow, result.pci_bus_id,
              result.domain + ": " + gbits(*result.gbits) + ", minimum is " +
                  gbits(settings.efa_min_gbits));
  }
  if (result.drops + result.retransmission_timeouts == 0) return;
  found.add(Code::kEfaLoopbackDrops, result.pci_bus_id,
            result.domain + ": " + std::to_string(result.drops) + " packets dropped, " +
                std::to_string(result.retransmission_timeouts) + " retransmission timeouts");
}

std::string summary_of(const std::vector<LoopbackResult>& results) {
  std::optional<double> worst;
  std::size_t good = 0;
  for (const LoopbackResult& result : results) {
    if (!result.gbits) continue;
    ++good;
    worst = std::min(worst.value_or(*result.gbits), *result.gbits);
  }
  return std::to_string(good) + " of " + std::to_string(results.size()) +
         " devices completed the loopback test" +
         (worst ? ", the slowest at " + gbits(*worst) : "");
}

}  // namespace

CheckOutcome efa_loopback_outcome(const std::vector<LoopbackResult>& results,
                                  const CheckSettings& settings) {
  const bool has_any = std::ranges::any_of(
      results, [](const LoopbackResult& result) { return result.gbits.has_value(); });
  if (!has_any && !settings.is_seed_profile && !results.empty()) {
    return CheckOutcome::error(
        "no device completed the loopback test; the cause may be software: " +
        results.front().domain + ": " + results.front().failure);
  }
  FindingList found(settings);
  for (const LoopbackResult& result : results) judge(result, settings, found);
  return CheckOutcome::done(summary_of(results), found.take_findings());
}

}  // namespace gpuward::exporter
