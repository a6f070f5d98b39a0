// What a column of a data file may hold, and how it is written as C++. Used by the generator of
// the catalogue only, at build time.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace gpuward::xid_generator {

enum class ColumnType : std::uint8_t {
  kNumber,             // 0 to 4294967295
  kHex,                // 0x00000001
  kText,               // anything but blank
  kWord,               // RESET_GPU
  kSeverity,           // none, monitor, reset, reboot, isolate
  kSeverityOrDefault,  // the same, or `default` for the configured one
  kClearedBy,          // reboot, gpu_reset, diagnostics, operator, age
  kYesNo,              // yes, no
  kFatality,           // fatal, non-fatal
  kForm,               // normal, promoted
  kMatch,              // bit, value, any
  kBits,               // 32 of 0, 1 and -, most significant first
  kKind,               // amd_ras, amd_reset, ...
};

struct Column {
  std::string_view name;   // in the data file
  std::string_view field;  // of the C++ struct
  ColumnType type;
};

// The C++ expression for `value`, or what is wrong with it.
[[nodiscard]] std::expected<std::string, std::string> to_cpp(ColumnType type,
                                                             const std::string& value);

}  // namespace gpuward::xid_generator
