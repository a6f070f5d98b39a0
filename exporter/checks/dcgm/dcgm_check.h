// Checks 1 and 4: DCGM's own diagnostics, at level 2 by itself every few hours, at level 4 when
// somebody asks. What is missing (dcgmi, nv-hostengine, an idle GPU) skips them with the reason;
// what cannot be understood is an error; neither is ever a fault of a GPU.
#pragma once

#include <chrono>
#include <memory>

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// dcgmi needs up to 25 s to have the engine end a diagnostic (dcgmi/Diag.cpp, v4.6.0).
inline constexpr std::chrono::seconds kDcgmGrace{35};

class DcgmCheck final : public Check {
 public:
  enum class Level : int { kMedium = 2, kExtended = 4 };
  explicit DcgmCheck(Level level) : level_(level) {}

  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;

 private:
  Level level_;
};

[[nodiscard]] CheckEntry dcgm_level_2_entry();
[[nodiscard]] CheckEntry dcgm_level_4_entry();

}  // namespace gpuward::exporter
