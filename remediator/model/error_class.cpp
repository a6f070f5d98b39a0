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
constexpr std::string_view kXid = "XID_ERROR";  // without a number
constexpr std::string_view kEcc = "ECC_ERROR";
// The replaced monitor names these Xids; their severity in gpuward may differ.
constexpr std::array<std::uint32_t, 3> kNamedCritical{74, 79, 999};
constexpr std::array<std::uint32_t, 3> kNamedWarning{31, 43, 62};
// In ascending order of weight. Classes of Xids end in the Xid's number.
constexpr std::array<std::string_view, 7> kByWeight{
    "HEALTHY", "GPU_HEALTH_WARNING", kWarning, kXid, "GPU_HEALTH_ERROR", kEcc, kCritical};

// Findings of gpuward's checks, by the labels of gpuward_finding (docs/checks.md). ecc_off and
// ecc_pending are settings of the memory and have no row.
struct FindingClass {
  std::string_view label, value, error_class;
};
constexpr FindingClass kOfFindings[] = {
    {"code", "ecc_uncorrected", kEcc},   {"code", "ecc_corrected_flood", kEcc},
    {"code", "retired_pages_dbe", kEcc}, {"code", "retired_pages_pending", kEcc},
    {"code", "retired_pages_sbe", kEcc}, {"code", "row_remap_pending", kEcc},
    {"code", "row_remap_failure", kEcc}, {"code", "sram_threshold", kEcc},
    {"code", "ras_uncorrected", kEcc},   {"code", "cper_fatal", kEcc},
    {"check", "amd_ras", kEcc},          {"check", "sxid", kXid},
};

// dcgmError_t of dcgmlib/dcgm_errors.h (NVIDIA/DCGM): errors that ECC has counted, pages and rows
// that it has retired, and Xids that DCGM has seen.
struct DcgmClass {
  std::uint32_t error;
  std::string_view error_class;
};
constexpr DcgmClass kOfDcgm[] = {{4, kEcc},   {5, kEcc},   {6, kEcc},   {7, kEcc},   {8, kEcc},
                                 {57, kEcc},  {80, kEcc},  {81, kEcc},  {83, kEcc},  {84, kEcc},
                                 {85, kEcc},  {102, kEcc}, {103, kEcc}, {105, kEcc}, {106, kEcc},
                                 {101, kXid}, {109, kXid}};

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
  const std::string code = label_of(labels, "code");
  if (label_of(labels, "check") == "xid") return parse_integer<std::uint32_t>(code);
  // Check 0 has seen that a program used unified memory.
  return code == "xid_159_uvm" ? std::optional(159U) : std::nullopt;
}

// `code` is the test and the error's number: `memory/57`.
std::string_view class_of_dcgm(const AlertLabels& labels) {
  if (!label_of(labels, "check").contains("dcgm-diag")) return {};
  const std::string code = label_of(labels, "code");
  const std::size_t slash = code.find('/');
  if (slash == std::string::npos) return {};
  const auto error = parse_integer<std::uint32_t>(code.substr(slash + 1));
  if (!error) return {};
  const auto* found = std::ranges::find(kOfDcgm, *error, &DcgmClass::error);
  return found == std::ranges::end(kOfDcgm) ? std::string_view() : found->error_class;
}

// Empty if the finding has no class of its own.
std::string_view class_of_finding(const AlertLabels& labels) {
  const auto* found = std::ranges::find_if(kOfFindings, [&](const FindingClass& one) {
    return label_of(labels, std::string(one.label)) == one.value;
  });
  return found == std::ranges::end(kOfFindings) ? class_of_dcgm(labels) : found->error_class;
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
  // dcgm-exporter reports 0 if there was no Xid.
  const auto xid = xid_of(labels);
  if (xid && *xid != 0) return class_of_xid(*xid, severity);
  if (severity == Severity::kNone) return "HEALTHY";
  if (const auto known = class_of_finding(labels); !known.empty()) return std::string(known);
  if (is_about(labels, "xid")) return std::string(kXid);
  if (is_about(labels, "ecc")) return std::string(kEcc);
  return severity >= Severity::kReset ? "GPU_HEALTH_ERROR" : "GPU_HEALTH_WARNING";
}

bool is_milder_class(std::string_view a, std::string_view b) { return weight_of(a) < weight_of(b); }

}  // namespace gpuward::remediator
