#include "core/xid/generator/column.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

namespace gpuward::xid_generator {
namespace {

using Cpp = std::expected<std::string, std::string>;
using Words = std::span<const std::pair<std::string_view, std::string_view>>;

constexpr std::pair<std::string_view, std::string_view> kSeverities[] = {
    {"none", "Severity::kNone"},       {"monitor", "Severity::kMonitor"},
    {"reset", "Severity::kReset"},     {"reboot", "Severity::kReboot"},
    {"isolate", "Severity::kIsolate"}, {"default", "std::nullopt"},
};
constexpr std::pair<std::string_view, std::string_view> kClearedByWords[] = {
    {"reboot", "ClearedBy::kReboot"},
    {"gpu_reset", "ClearedBy::kGpuReset"},
    {"diagnostics", "ClearedBy::kDiagnostics"},
    {"operator", "ClearedBy::kOperator"},
    {"age", "ClearedBy::kAge"},
};
constexpr std::pair<std::string_view, std::string_view> kYesNoWords[] = {{"yes", "true"},
                                                                         {"no", "false"}};
constexpr std::pair<std::string_view, std::string_view> kFatalities[] = {
    {"fatal", "Fatality::kFatal"}, {"non-fatal", "Fatality::kNonFatal"}};
constexpr std::pair<std::string_view, std::string_view> kForms[] = {{"normal", "false"},
                                                                    {"promoted", "true"}};
constexpr std::pair<std::string_view, std::string_view> kMatches[] = {
    {"bit", "StatusMatch::kBit"}, {"value", "StatusMatch::kValue"}, {"any", "StatusMatch::kAny"}};
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"rm_init", "Kind::kRmInit"},     {"peermem", "Kind::kPeermem"},  {"amd_ras", "Kind::kAmdRas"},
    {"amd_reset", "Kind::kAmdReset"}, {"amd_hang", "Kind::kAmdHang"}, {"aer", "Kind::kAer"},
    {"edac", "Kind::kEdac"},          {"mce", "Kind::kMce"},
};

Cpp one_of(Words words, std::string_view value) {
  std::string allowed;
  for (const auto& [word, cpp] : words) {
    if (word == value) return std::string{cpp};
    allowed += allowed.empty() ? "" : ", ";
    allowed += word;
  }
  return std::unexpected("unknown word \"" + std::string{value} + "\": use one of " + allowed);
}

Cpp number(std::string_view digits, int base) {
  std::uint32_t parsed = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parsed, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return std::unexpected("not a number of 32 bits");
  }
  return std::to_string(parsed) + "U";
}

Cpp hex(const std::string& value) {
  if (!value.starts_with("0x")) return std::unexpected("write it as 0x and hexadecimal digits");
  return number(std::string_view{value}.substr(2), 16);
}

Cpp text(std::string_view value) {
  std::string cpp = "\"";
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20)
      return std::unexpected("a control character: remove it");
    if (c == '"' || c == '\\') cpp += '\\';
    cpp += c;
  }
  return cpp + "\"";
}

Cpp word(const std::string& value) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!std::ranges::all_of(value, fits)) {
    return std::unexpected("\"" + value + "\" is not a word of A-Z, 0-9 and _");
  }
  return text(value);
}

Cpp bits(std::string_view value) {
  if (value.size() != 32)
    return std::unexpected("needs 32 characters, has " + std::to_string(value.size()));
  std::uint32_t mask = 0;
  std::uint32_t set = 0;
  for (const char c : value) {
    if (c != '0' && c != '1' && c != '-') return std::unexpected("only 0, 1 and - stand for bits");
    mask = mask << 1U | (c == '-' ? 0U : 1U);
    set = set << 1U | (c == '1' ? 1U : 0U);
  }
  return "{" + std::to_string(mask) + "U, " + std::to_string(set) + "U}";
}

}  // namespace

Cpp to_cpp(ColumnType type, const std::string& value) {
  if (std::ranges::all_of(value, [](char c) { return c == ' ' || c == '\t'; })) {
    return std::unexpected("is blank: fill it in");
  }
  switch (type) {
    case ColumnType::kNumber:
      return number(value, 10);
    case ColumnType::kHex:
      return hex(value);
    case ColumnType::kText:
      return text(value);
    case ColumnType::kWord:
      return word(value);
    case ColumnType::kSeverity:
      return one_of(Words{kSeverities}.first(5), value);
    case ColumnType::kSeverityOrDefault:
      return one_of(kSeverities, value);
    case ColumnType::kClearedBy:
      return one_of(kClearedByWords, value);
    case ColumnType::kYesNo:
      return one_of(kYesNoWords, value);
    case ColumnType::kFatality:
      return one_of(kFatalities, value);
    case ColumnType::kForm:
      return one_of(kForms, value);
    case ColumnType::kMatch:
      return one_of(kMatches, value);
    case ColumnType::kBits:
      return bits(value);
    case ColumnType::kKind:
      return one_of(kKinds, value);
  }
  return std::unexpected("a column of no type");
}

}  // namespace gpuward::xid_generator
