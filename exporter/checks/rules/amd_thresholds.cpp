#include "exporter/checks/rules/amd_thresholds.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// Durations in the format of AMD's exporter, which is written in Go: "24h", "1h30m", "1.5h", "0".
// Pure. Used for the HealthThresholds of its file.

struct GoUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::string_view kNumberCharacters = ".0123456789";
constexpr GoUnit kGoUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // the micro sign, and the Greek letter that looks like it
    {"\u03bcs", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
};

// Parses `1.5`, `1.` and `.5`, but not a single point.
std::optional<double> parse_go_number(std::string_view text) {
  if (std::ranges::count(text, '.') > 1 || text == ".") return std::nullopt;
  return parse_integer<double>("0" + std::string(text));
}

// Accepts what Go's time.ParseDuration accepts, without a minus. Returns nullopt for other text and
// for more than 292 years.
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const auto number_end = std::min(text.find_first_not_of(kNumberCharacters), text.size());
    const std::string_view number_text = text.substr(0, number_end);
    text.remove_prefix(number_end);
    const auto unit_end = std::min(text.find_first_of(kNumberCharacters), text.size());
    const auto* const unit = std::ranges::find(kGoUnits, text.substr(0, unit_end), &GoUnit::name);
    text.remove_prefix(unit_end);
    const auto number = parse_go_number(number_text);
    if (number_text.empty() || !number || unit == std::end(kGoUnits)) return std::nullopt;
    total += *number * static_cast<double>(unit->nanoseconds);
  }
  if (total >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
}

struct Field {
  std::string_view name;  // after the prefix
  std::vector<std::string_view> blocks;
};

constexpr std::string_view kPrefix = "GPU_ECC_UNCORRECT_";
// Another key of HealthThresholds: the maximum age of a fatal error record that counts.
constexpr std::string_view kCperMaxAge = "GPU_CPER_MAX_AGE";

// device-metrics-exporter, pkg/exporter/proto/exporterconfig.proto, message GPUHealthThresholds;
// and the names of the kernel's files (amdgpu_ras.c, ras_block_string, ras_mca_block_string).
const std::vector<Field>& fields() {
  static const std::vector<Field> kFields{
      {"SDMA", {"sdma"}},
      {"GFX", {"gfx"}},
      {"MMHUB", {"mmhub"}},
      {"ATHUB", {"athub"}},
      {"BIF", {"pcie_bif"}},
      {"HDP", {"hdp"}},
      {"XGMI_WAFL", {"xgmi_wafl"}},
      {"DF", {"df"}},
      {"SMN", {"smn"}},
      {"SEM", {"sem"}},
      {"MP0", {"mp0"}},
      {"MP1", {"mp1"}},
      {"FUSE", {"fuse"}},
      {"UMC", {"umc"}},
      {"MCA", {"mca", "mca_mp0", "mca_mp1", "mca_mpio", "mca_iohc"}},
      {"VCN", {"vcn"}},
      {"JPEG", {"jpeg"}},
      {"IH", {"ih"}},
      {"MPIO", {"mpio"}},
  };
  return kFields;
}

const Field* find_field(std::string_view name) {
  if (!name.starts_with(kPrefix)) return nullptr;
  const auto found = std::ranges::find(fields(), name.substr(kPrefix.size()), &Field::name);
  return found == fields().end() ? nullptr : &*found;
}

void set(AmdThresholds& thresholds, const Field& field, std::uint64_t most) {
  thresholds.by_field[std::string(kPrefix) + std::string(field.name)] = most;
  for (const std::string_view block : field.blocks) {
    thresholds.by_block[std::string(block)] = most;
  }
}

std::unexpected<Error> reject(const std::string& field, const std::string& why) {
  return fail(ErrorKind::kInvalid, "GPUConfig.HealthThresholds." + field + " " + why);
}

// AMD's exporter logs an invalid duration and then accepts any age; this function reports the typo.
Status take_max_age(AmdThresholds& thresholds, const std::string& name, const Json& value) {
  const auto* const text = value.get_ptr<const std::string*>();
  const auto age = text == nullptr ? std::nullopt : parse_go_duration(text->empty() ? "0" : *text);
  if (!age) return reject(name, "has to be a duration such as \"24h\" or \"30m\", or \"0\"");
  thresholds.cper_max_age = *age;
  return {};
}

Status take(AmdThresholds& thresholds, const std::string& name, const Json& value) {
  if (name == kCperMaxAge) return take_max_age(thresholds, name, value);
  const Field* const field = find_field(name);
  if (field == nullptr) return reject(name, "is not a threshold");
  const bool fits = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  if (!fits) return reject(name, "has to be a whole number from 0 to 4294967295");
  set(thresholds, *field, value.get<std::uint64_t>());
  return {};
}

}  // namespace

AmdThresholds default_amd_thresholds() {
  AmdThresholds thresholds;
  for (const Field& field : fields()) set(thresholds, field, 0);
  return thresholds;
}

Result<AmdThresholds> parse_amd_thresholds(std::string_view text) {
  const auto root = parse_json(text);
  if (!root) return std::unexpected(root.error());
  if (!root->is_object()) return fail(ErrorKind::kInvalid, "it is not a JSON object");
  AmdThresholds thresholds = default_amd_thresholds();
  const Json& given = member_at(member_at(*root, "GPUConfig"), "HealthThresholds");
  if (given.is_null()) return thresholds;
  if (!given.is_object()) {
    return fail(ErrorKind::kInvalid, "GPUConfig.HealthThresholds is not an object");
  }
  for (const auto& [name, value] : given.items()) {
    if (auto taken = take(thresholds, name, value); !taken) return std::unexpected(taken.error());
  }
  return thresholds;
}

}  // namespace gpuward::exporter
