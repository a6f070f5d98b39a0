#include "remediator/model/error_class.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/runtime/text.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

using AlertLabels = std::map<std::string, std::string>;

constexpr std::string_view kCritical = "XID_CRITICAL_";
constexpr std::string_view kWarning = "XID_WARNING_";
// Named by the replaced system, whatever they amount to here.
constexpr std::array<std::uint32_t, 3> kNamedCritical{74, 79, 999};
constexpr std::array<std::uint32_t, 3> kNamedWarning{31, 43, 62};
// By how much they say; the Xids' end in their number.
constexpr std::array<std::string_view, 7> kByWeight{"HEALTHY",   "GPU_HEALTH_WARNING", kWarning,
                                                    "XID_ERROR", "GPU_HEALTH_ERROR",   "ECC_ERROR",
                                                    kCritical};

std::string label_of(const AlertLabels& labels, const std::string& name) {
  return to_lower(value_at(labels, name));
}

bool is_about(const AlertLabels& labels, std::string_view word) {
  return label_of(labels, "alertname").contains(word) || label_of(labels, "check").contains(word);
}

std::optional<std::uint32_t> xid_of(const AlertLabels& labels) {
  for (const char* name : {"xid", "err_code"}) {
    if (const auto code = parse_integer<std::uint32_t>(label_of(labels, name))) return code;
  }
  if (label_of(labels, "check") != "xid") return std::nullopt;
  return parse_integer<std::uint32_t>(label_of(labels, "code"));
}

std::string class_of_xid(std::uint32_t xid, Severity severity) {
  const auto is_in = [xid](const auto& named) {
    return std::ranges::find(named, xid) != named.end();
  };
  const bool is_critical =
      is_in(kNamedCritical) || (severity >= Severity::kReset && !is_in(kNamedWarning));
  return std::string(is_critical ? kCritical : kWarning) + std::to_string(xid);
}

std::size_t weight_of(std::string_view error_class) {
  for (std::size_t i = kByWeight.size(); i > 0; --i) {
    if (error_class.starts_with(kByWeight[i - 1])) return i;
  }
  return 0;
}

}  // namespace

std::string error_class_of(const AlertLabels& labels, Severity severity) {
  // 0 is what dcgm-exporter says where there was none.
  const auto xid = xid_of(labels);
  if (xid && *xid != 0) return class_of_xid(*xid, severity);
  if (severity == Severity::kNone) return "HEALTHY";
  if (is_about(labels, "xid")) return "XID_ERROR";
  if (is_about(labels, "ecc")) return "ECC_ERROR";
  return severity >= Severity::kReset ? "GPU_HEALTH_ERROR" : "GPU_HEALTH_WARNING";
}

bool is_milder_class(std::string_view a, std::string_view b) { return weight_of(a) < weight_of(b); }

}  // namespace gpuward::remediator
