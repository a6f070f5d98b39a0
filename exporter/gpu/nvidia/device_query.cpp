#include "exporter/gpu/nvidia/device_query.h"

#include <algorithm>
#include <array>
#include <vector>

namespace gpuward::exporter::nvml {

bool means_reopen(ReturnCode code) {
  return code == kUninitialized || code == kDriverNotLoaded || code == kLibraryVersionMismatch;
}

bool means_unsupported(ReturnCode code) {
  constexpr std::array kUnsupported{kInvalidArgument,
                                    kNotSupported,
                                    kNoPermission,
                                    kNotFound,
                                    kInsufficientSize,
                                    kFunctionNotFound,
                                    kArgumentVersionMismatch,
                                    kNoData,
                                    kDeprecated};
  return std::ranges::find(kUnsupported, code) != kUnsupported.end();
}

ReturnCode DeviceQuery::note(ReturnCode code, const char* function) {
  if (code == kSuccess) {
    has_answered_ = true;
    return code;
  }
  if (means_unsupported(code)) return code;
  if (first_failure_.code == kSuccess) first_failure_ = {code, function};
  is_lost_ = is_lost_ || code == kGpuIsLost;
  wants_reopen_ = wants_reopen_ || means_reopen(code);
  if (code == kResetRequired) wants_reset_ = function;
  if (is_over()) grave_ = {code, function};
  return code;
}

DeviceQuery::Complaint DeviceQuery::complaint() const {
  if (grave_.code != kSuccess) return grave_;
  return has_answered_ ? Complaint() : first_failure_;
}

Maybe<std::uint32_t> DeviceQuery::number(const Function<ReturnCode(Device, I32, U32*)>& function,
                                         I32 argument) {
  std::uint32_t raw = 0;
  return tells(function, argument, &raw) ? number_from(raw) : std::nullopt;
}

Maybe<bool> DeviceQuery::claim(const Number32Call& function) {
  std::uint32_t raw = 0;
  return tells(function, &raw) ? claim_from(raw) : std::nullopt;
}

std::string DeviceQuery::text(const TextCall& function, std::size_t bytes) {
  std::vector<char> buffer(bytes, '\0');
  if (!tells(function, buffer.data(), static_cast<std::uint32_t>(bytes))) return {};
  return text_from(buffer);
}

}  // namespace gpuward::exporter::nvml
