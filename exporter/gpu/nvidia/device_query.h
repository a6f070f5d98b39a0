// The queries to one GPU in one reading, and the conclusion from their results: whether the GPU is
// lost, which error it reported, whether the library must be reopened. Used by the readers of
// readings.h, on the worker's main thread.
#pragma once

#include <string>
#include <type_traits>

#include "exporter/gpu/nvidia/nvml_symbols.h"
#include "exporter/gpu/nvidia/sentinel.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::nvml {

// The library cannot continue with this driver: it was unloaded, upgraded, or the library shut
// down.
[[nodiscard]] bool means_reopen(ReturnCode code);
// The driver does not have the value; this does not concern the GPU's health.
[[nodiscard]] bool means_unsupported(ReturnCode code);

class DeviceQuery {
 public:
  // `is_thorough`: also read values that change rarely and cost much (kThoroughEvery in
  // nvml_library.h). `refuses`: as in KnownDevice; queries to such a GPU continue even if it
  // refuses some.
  DeviceQuery(const Symbols& symbols, Device device, bool is_thorough, bool refuses = false)
      : symbols_(symbols), device_(device), is_thorough_(is_thorough), refuses_(refuses) {}

  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] bool is_thorough() const { return is_thorough_; }

  // Calls `function` for this GPU and remembers the result. If the GPU is lost, no more calls are
  // made: each would cost the driver's time-out.
  template <typename... Rest>
  ReturnCode ask(const Function<ReturnCode(Device, Rest...)>& function,
                 std::type_identity_t<Rest>... rest) {
    if (is_over()) return kGpuIsLost;
    return note(function(device_, rest...), function.name());
  }
  template <typename... Rest>
  [[nodiscard]] bool tells(const Function<ReturnCode(Device, Rest...)>& function,
                           std::type_identity_t<Rest>... rest) {
    return ask(function, rest...) == kSuccess;
  }
  template <typename Number>
  [[nodiscard]] Maybe<Number> number(const Function<ReturnCode(Device, Number*)>& function) {
    Number raw = 0;
    return tells(function, &raw) ? number_from(raw) : std::nullopt;
  }
  // For functions with one argument between the GPU and the result.
  [[nodiscard]] Maybe<std::uint32_t> number(const Function<ReturnCode(Device, I32, U32*)>& function,
                                            I32 argument);
  [[nodiscard]] Maybe<bool> claim(const Number32Call& function);
  [[nodiscard]] std::string text(const TextCall& function, std::size_t bytes);

  // For results inside structures.
  ReturnCode note(ReturnCode code, const char* function);

  [[nodiscard]] bool wants_reopen() const { return wants_reopen_; }
  [[nodiscard]] bool is_over() const { return is_lost_ || (wants_reopen_ && !refuses_); }
  // Whether a query has failed, other than for an unsupported value.
  [[nodiscard]] bool has_failed() const { return first_failure_.code != kSuccess; }
  // The function that reported that the GPU requires a reset; null if none did.
  [[nodiscard]] const char* wants_reset() const { return wants_reset_; }
  // An error that concerns the whole GPU: it is lost, the driver is gone, or, if no query
  // succeeded, the first failure.
  struct Complaint {
    ReturnCode code = kSuccess;  // no error
    const char* function = "";
  };
  [[nodiscard]] Complaint complaint() const;

 private:
  const Symbols& symbols_;
  Device device_;
  bool is_thorough_;
  bool refuses_;
  const char* wants_reset_ = nullptr;
  bool is_lost_ = false;
  bool wants_reopen_ = false;
  bool has_answered_ = false;
  Complaint grave_;  // concerns the whole GPU by itself
  Complaint first_failure_;
};

}  // namespace gpuward::exporter::nvml
