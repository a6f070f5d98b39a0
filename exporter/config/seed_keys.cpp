#include "exporter/config/seed_keys.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/config/settings.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostValueBytes = 256U << 10U;
constexpr std::uint64_t kMostSeconds = 31'536'000;  // a year
constexpr std::uint32_t kPshcZeroLifetime = 165;
constexpr unsigned kMostNodes = 65'536;

// The allowed values, if the value is wrong; empty if it was accepted.
using Complaint = std::string;

Complaint read_value(std::string_view text, std::chrono::milliseconds& out) {
  const auto seconds = parse_integer<std::uint64_t>(text);
  if (!seconds || *seconds == 0 || *seconds > kMostSeconds)
    return "is not a number of seconds from 1 to 31536000";
  out = std::chrono::seconds(*seconds);
  return {};
}

Complaint read_value(std::string_view text, std::optional<std::chrono::milliseconds>& out) {
  return read_value(text, out.emplace());
}

Complaint read_value(std::string_view text, bool& out) {
  if (text != "true" && text != "false" && text != "1" && text != "0")
    return "is neither true nor false";
  out = text == "true" || text == "1";
  return {};
}

Complaint read_value(std::string_view text, double& out) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kMost = 1'000'000;
  if (error != std::errc{} || end != text.data() + text.size() || std::isnan(value) || value < 0 ||
      value > kMost)
    return "is not a number from 0 to 1000000";
  out = value;
  return {};
}

Complaint read_value(std::string_view text, std::vector<int>& out) {
  std::vector<int> numbers;
  while (!(text = trim(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n,"));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    const auto number = parse_integer<int>(word);
    if (!number || *number < 0 || *number > 6) return "is not a list of check numbers from 0 to 6";
    numbers.push_back(*number);
  }
  out = std::move(numbers);
  return {};
}

Complaint read_value(std::string_view text, Severity& out) {
  const auto severity = parse_severity(text);
  if (!severity || *severity < Severity::kMonitor || *severity > Severity::kReboot)
    return "must be one of MONITOR, RESET, REBOOT";
  out = *severity;
  return {};
}

Complaint read_value(std::string_view text, std::uint64_t& out) {
  const auto pages = parse_integer<std::uint32_t>(text);
  if (!pages) return "is not a number of pages";
  out = *pages;
  return {};
}

Complaint read_value(std::string_view text, unsigned& out) {
  const auto nodes = parse_integer<unsigned>(text);
  if (!nodes || *nodes == 0 || *nodes > kMostNodes)
    return "is not a number of nodes from 1 to 65536";
  out = *nodes;
  return {};
}

Complaint read_value(std::string_view text, std::string& out) {
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) return "contains white space";
  out = text;
  return {};
}

Complaint read_value(std::string_view text, std::filesystem::path& out) {
  out = std::filesystem::path(text);
  return {};
}

// The type of the field determines the allowed values.
template <auto kPart, auto kField>
Complaint read_field(std::string_view text, Settings& settings) {
  return read_value(text, settings.*kPart.*kField);
}

template <auto kField>
constexpr auto kOfChecks = &read_field<&Settings::checks, kField>;
template <auto kField>
constexpr auto kOfNode = &read_field<&Settings::node, kField>;
template <auto kField>
constexpr auto kOfCatalogue = &read_field<&Settings::catalogue, kField>;

Complaint read_pshc(std::string_view text, Settings& settings) {
  Complaint complaint = read_value(text, settings.checks.is_pshc_strict);
  if (!complaint.empty() || !settings.checks.is_pshc_strict) return complaint;
  // An override of this Xid with its own severity wins.
  auto& severity = settings.catalogue.xid[kPshcZeroLifetime].severity;
  if (!severity) severity = Severity::kIsolate;
  return {};
}

Complaint read_profiles(std::string_view text, Settings& settings) {
  const auto profiles = InstanceProfiles::parse(text, "instance-profiles.conf");
  if (!profiles) return profiles.error().message;
  settings.checks.profiles.add(*profiles);
  return {};
}

Complaint has_no_effect(std::string_view, Settings&) { return {}; }

struct SeedKey {
  std::string_view name;
  Complaint (*apply)(std::string_view text, Settings& settings);
};

// The exporter follows the whole kernel log, so the two sizes of the suite's tail have no effect.
constexpr std::array kKeys{
    SeedKey{"CHECK_INTERVAL", kOfChecks<&CheckSettings::check_interval>},
    SeedKey{"DCGM_L2_INTERVAL", kOfChecks<&CheckSettings::dcgm_l2_interval>},
    SeedKey{"CHECKS_LIGHTWEIGHT", kOfChecks<&CheckSettings::enabled>},
    SeedKey{"ENABLE_TAINT", kOfNode<&NodeSettings::writes_taint>},
    SeedKey{"ENABLE_LABEL", kOfNode<&NodeSettings::writes_labels>},
    SeedKey{"ENABLE_ANNOTATION", kOfNode<&NodeSettings::writes_annotation>},
    SeedKey{"ENABLE_CONDITION", kOfNode<&NodeSettings::writes_condition>},
    SeedKey{"CHECK_TIMEOUT", kOfChecks<&CheckSettings::check_timeout>},
    SeedKey{"DCGM_TIMEOUT", kOfChecks<&CheckSettings::dcgm_timeout>},
    SeedKey{"DCGM_L4_TIMEOUT", kOfChecks<&CheckSettings::dcgm_l4_timeout>},
    SeedKey{"NCCL_TIMEOUT", kOfChecks<&CheckSettings::nccl_timeout>},
    SeedKey{"NCCL_ISOLATION_TESTS", kOfChecks<&CheckSettings::nccl_isolation_tests>},
    SeedKey{"NCCL_ISOLATION_TIMEOUT", kOfChecks<&CheckSettings::nccl_isolation_timeout>},
    SeedKey{"NCCL_MIN_BUS_BW", kOfChecks<&CheckSettings::nccl_min_bus_bandwidth>},
    SeedKey{"HEALTHCHECK_NUM_NODES", kOfChecks<&CheckSettings::nccl_nodes>},
    SeedKey{"NCCL_CONTAINER", kOfChecks<&CheckSettings::nccl_container>},
    SeedKey{"NCCL_HOSTFILE", kOfChecks<&CheckSettings::nccl_hostfile>},
    SeedKey{"EFA_TEST_TIMEOUT", kOfChecks<&CheckSettings::efa_test_timeout>},
    SeedKey{"EFA_MIN_BW", kOfChecks<&CheckSettings::efa_min_gbits>},
    SeedKey{"MAX_RETIRED_PAGES_SBE", kOfChecks<&CheckSettings::max_retired_pages_sbe>},
    SeedKey{"STRICT_PSHC", read_pshc},
    SeedKey{"NVLINK_DEFAULT", kOfCatalogue<&xid::CatalogueOptions::nvlink_default>},
    SeedKey{"NVLINK5_DEFAULT", kOfCatalogue<&xid::CatalogueOptions::nvlink5_default>},
    SeedKey{"RESULTS_DIR", kOfChecks<&CheckSettings::results_dir>},
    SeedKey{"instance-profiles.conf", read_profiles},
    SeedKey{"KERNEL_LOG_LINES", has_no_effect},
    SeedKey{"NVIDIA_LOG_TAIL", has_no_effect},
};

}  // namespace

SeedLookup environment_lookup() {
  return [](std::string_view key) -> Result<std::optional<std::string>> {
    const char* value = std::getenv(std::string(key).c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

SeedLookup folder_lookup(std::filesystem::path folder) {
  return [folder = std::move(folder)](std::string_view key) -> Result<std::optional<std::string>> {
    auto text = read_file(folder / key, kMostValueBytes);
    if (text) return *std::move(text);
    if (text.error().kind == ErrorKind::kNotFound) return std::nullopt;
    return std::unexpected(text.error());
  };
}

Status apply_seed_keys(const SeedLookup& lookup, const std::string& where, Settings& settings) {
  Settings changed = settings;
  std::string faults;
  for (const SeedKey& key : kKeys) {
    const auto text = lookup(key.name);
    std::string complaint;
    if (!text) {
      complaint = text.error().message;
    } else if (*text && !trim(**text).empty()) {
      complaint = key.apply(trim(**text), changed);
    }
    if (complaint.empty()) continue;
    if (!faults.empty()) faults += '\n';
    faults += where + ": " + std::string(key.name) + ": " + complaint;
  }
  if (!faults.empty()) return fail(ErrorKind::kInvalid, faults);
  settings = std::move(changed);
  return {};
}

std::vector<std::string_view> seed_keys() {
  std::vector<std::string_view> names;
  for (const SeedKey& key : kKeys) names.push_back(key.name);
  return names;
}

}  // namespace gpuward::exporter
