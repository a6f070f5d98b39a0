#include "exporter/config/settings.h"

#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "core/runtime/yaml.h"

namespace gpuward::exporter {
namespace {

constexpr std::int64_t kOldestBranch = 300;
constexpr std::int64_t kNewestBranch = 9999;

std::optional<Severity> read_severity(const YamlMap& map, const char* key) {
  if (!map.has(key)) return std::nullopt;
  std::string text;
  map.read(key, text);
  const auto severity = parse_severity(text);
  if (!severity) map.reject(key, "is none of none, monitor, reset, reboot, isolate");
  return severity;
}

std::optional<ClearedBy> read_cleared_by(const YamlMap& map) {
  if (!map.has("cleared_by")) return std::nullopt;
  std::string text;
  map.read("cleared_by", text);
  for (const ClearedBy by : {ClearedBy::kReboot, ClearedBy::kGpuReset, ClearedBy::kDiagnostics,
                             ClearedBy::kOperator, ClearedBy::kAge}) {
    if (to_string(by) == text) return by;
  }
  map.reject("cleared_by", "is none of reboot, gpu_reset, diagnostics, operator, age");
  return std::nullopt;
}

xid::Override read_override(const YamlMap& map) {
  xid::Override override;
  override.severity = read_severity(map, "severity");
  override.cleared_by = read_cleared_by(map);
  if (map.has("action")) {
    std::string action;
    map.require("action", action);
    override.action = action;
  }
  return override;
}

std::map<std::uint32_t, xid::Override> read_overrides(const YamlMap& root, const char* key) {
  std::map<std::uint32_t, xid::Override> overrides;
  const YamlMap table = root.map(key);
  for (const auto& [code_text, row] : table.entries()) {
    const auto code = parse_integer<std::uint32_t>(code_text);
    if (!code || *code == 0) {
      table.reject(code_text, "is no error number");
    } else if (!row.scalar().empty()) {
      table.reject(code_text, "is not a mapping with severity, action or cleared_by");
    } else if (!overrides.emplace(*code, read_override(row)).second) {
      table.reject(code_text, "is there twice");
    }
  }
  return overrides;
}

xid::CatalogueOptions read_catalogue(const YamlMap& root) {
  xid::CatalogueOptions options;
  std::string profile = "default";
  root.read("profile", profile);
  if (profile == "seed") options.profile = xid::Profile::kSeed;
  if (profile != "seed" && profile != "default")
    root.reject("profile", "is neither default nor seed");
  options.xid = read_overrides(root, "xid");
  options.sxid = read_overrides(root, "sxid");
  options.nvlink_default = read_severity(root, "nvlink_default").value_or(options.nvlink_default);
  options.nvlink5_default =
      read_severity(root, "nvlink5_default").value_or(options.nvlink5_default);
  std::int64_t branch = options.driver_branch;
  root.read("driver_branch", branch, kOldestBranch, kNewestBranch);
  options.driver_branch = static_cast<std::uint32_t>(branch);
  return options;
}

void read_kernel_log(const YamlMap& map, Settings& settings) {
  map.read("path", settings.kernel_log_path);
  if (settings.kernel_log_path.empty()) map.reject("path", "is empty");
  std::string lines = "mark";
  map.read("user_space_lines", lines);
  if (lines == "refuse") {
    settings.user_space_lines = UserSpaceLines::kRefuse;
  } else if (lines == "trust") {
    settings.user_space_lines = UserSpaceLines::kTrust;
  } else if (lines != "mark") {
    map.reject("user_space_lines", "is none of mark, refuse, trust");
  }
}

void read_log(const YamlMap& map, Settings& settings) {
  if (!map.has("level")) return;
  std::string text;
  map.read("level", text);
  const auto level = parse_log_level(text);
  if (!level) map.reject("level", level.error().message);
  if (level) settings.log_level = *level;
}

constexpr std::chrono::milliseconds kShortest = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
constexpr std::int64_t kMostDevices = 1024;

void read_gpu(const YamlMap& map, CheckSettings& checks) {
  map.read("interval", checks.gpu_interval, kShortest, std::chrono::hours(1));
  map.read("timeout", checks.gpu_timeout, kShortest, std::chrono::minutes(10));
  map.read("settling_time", checks.settling_time, std::chrono::milliseconds(0),
           std::chrono::hours(24));
}

std::optional<int> check_number(std::string_view text) {
  const auto number = parse_integer<int>(text);
  constexpr int kLastCheck = 6;
  return number && *number >= 0 && *number <= kLastCheck ? number : std::nullopt;
}

void read_enabled(const YamlMap& map, std::vector<int>& enabled) {
  if (!map.has("enabled")) return;
  std::vector<std::string> words;
  map.read("enabled", words);
  enabled.clear();
  for (const std::string& word : words) {
    const auto number = check_number(word);
    if (!number) map.reject("enabled", "holds something else than check numbers from 0 to 6");
    if (number) enabled.push_back(*number);
  }
}

void read_timeouts(const YamlMap& table, CheckSettings& checks) {
  for (const auto& [word, row] : table.entries()) {
    const auto number = check_number(word);
    if (!number) {
      table.reject(word, "is no check number from 0 to 6");
      continue;
    }
    table.read(word, checks.timeouts[*number], kShortest, kLongest);
  }
}

void read_paths(const YamlMap& map, CheckSettings& checks) {
  std::string results = checks.results_dir.string();
  map.read("results_dir", results);
  checks.results_dir = results;
  if (!map.has("tool_dirs")) return;
  std::vector<std::string> folders;
  map.read("tool_dirs", folders);
  checks.tool_dirs.assign(folders.begin(), folders.end());
}

void read_checks(const YamlMap& map, CheckSettings& checks) {
  map.read("interval", checks.check_interval, kShortest, kLongest);
  read_enabled(map, checks.enabled);
  const YamlMap dcgm = map.map("dcgm_l2");
  dcgm.read("enabled", checks.is_dcgm_l2_enabled);
  dcgm.read("interval", checks.dcgm_l2_interval, std::chrono::minutes(1), kLongest);
  read_timeouts(map.map("timeouts"), checks);
  read_paths(map, checks);
  auto pages = static_cast<std::int64_t>(checks.max_retired_pages_sbe);
  map.read("max_retired_pages_sbe", pages, 0, 1'000'000);
  checks.max_retired_pages_sbe = static_cast<std::uint64_t>(pages);
  map.read("efa_min_gbits", checks.efa_min_gbits, 0, 1'000'000);
  checks.dcgm_bare_fail = read_severity(map, "dcgm_bare_fail").value_or(checks.dcgm_bare_fail);
  map.read("dcgm_l4_beside_telemetry", checks.is_dcgm_l4_beside_telemetry);
}

unsigned read_devices(const YamlMap& map, const char* key) {
  std::int64_t count = 0;
  map.read(key, count, 0, kMostDevices);
  return static_cast<unsigned>(count);
}

void read_instance(const YamlMap& map, CheckSettings& checks) {
  map.read("type", checks.instance_type);
  for (const YamlMap& item : map.maps("profiles")) {
    InstanceProfile profile;
    item.require("type", profile.type);
    profile.gpus = read_devices(item, "gpus");
    profile.efa_devices = read_devices(item, "efa");
    item.read("nvlink", profile.expects_nvlink);
    item.read("provider", profile.fabric_provider);
    checks.profiles.add(std::move(profile));
  }
}

void read_node(const YamlMap& map, NodeSettings& node) {
  if (map.has("preset")) {
    std::string text;
    map.read("preset", text);
    bool is_known = false;
    for (const NodePreset preset :
         {NodePreset::kAwsSamples, NodePreset::kKonduktor, NodePreset::kAmd, NodePreset::kNone}) {
      if (to_string(preset) != text) continue;
      node.preset = preset;
      is_known = true;
    }
    if (!is_known) map.reject("preset", "is none of aws-samples, konduktor, amd, none");
  }
  map.read("labels", node.writes_labels);
  map.read("taint", node.writes_taint);
  map.read("annotation", node.writes_annotation);
  map.read("condition", node.writes_condition);
}

void read_amd(const YamlMap& map, Settings& settings) {
  std::string config = settings.amd_config.string();
  map.read("config", config);
  settings.amd_config = config;
  const YamlMap service = map.map("health_service");
  service.read("enabled", settings.amd_health.is_enabled);
  std::string socket = settings.amd_health.socket.string();
  service.read("socket", socket);
  settings.amd_health.socket = socket;
  service.read("all_vendors", settings.amd_health.has_all_vendors);
}

// A machine without the file has AMD's defaults.
Status load_amd_thresholds(Settings& settings) {
  const auto text = read_file(settings.amd_config);
  if (!text && text.error().kind == ErrorKind::kNotFound) return {};
  if (!text) return std::unexpected(text.error());
  auto thresholds = parse_amd_thresholds(*text);
  if (!thresholds) return with_context(settings.amd_config.string(), thresholds.error());
  settings.checks.ras_thresholds = thresholds->by_block;
  settings.checks.cper_max_age = thresholds->cper_max_age;
  settings.amd_thresholds = *std::move(thresholds);
  return {};
}

Result<Settings> load_file(const std::filesystem::path& path) {
  Settings settings;
  if (path.empty()) return settings;
  auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  const YamlMap root = file->root();
  settings.catalogue = read_catalogue(root);
  read_kernel_log(root.map("kernel_log"), settings);
  root.map("findings")
      .read("age", settings.findings_age, std::chrono::minutes(1), std::chrono::hours(24 * 365));
  read_log(root.map("log"), settings);
  read_gpu(root.map("gpu"), settings.checks);
  read_checks(root.map("checks"), settings.checks);
  read_instance(root.map("instance"), settings.checks);
  read_node(root.map("node"), settings.node);
  std::string socket = settings.kubelet_socket.string();
  root.map("pods").read("socket", socket);
  settings.kubelet_socket = socket;
  read_amd(root.map("amd"), settings);
  const YamlMap metrics = root.map("metrics");
  metrics.read("dcgm_compat", settings.metrics.dcgm_compat);
  metrics.read("efa_compat", settings.metrics.efa_compat);
  metrics.read("per_link", settings.metrics.per_link);
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  settings.checks.is_seed_profile = settings.catalogue.profile == xid::Profile::kSeed;
  if (settings.checks.is_seed_profile) settings.node.untold_node = UntoldNode::kFails;
  return settings;
}

}  // namespace

Result<Settings> load_settings(const SettingsSources& sources) {
  auto settings = load_file(sources.file);
  if (!settings) return settings;
  if (auto status = load_amd_thresholds(*settings); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = apply_seed_keys(sources.environment, "environment", *settings); !status) {
    return std::unexpected(status.error());
  }
  if (sources.folder.empty()) return settings;
  if (auto status =
          apply_seed_keys(folder_lookup(sources.folder), sources.folder.string(), *settings);
      !status) {
    return std::unexpected(status.error());
  }
  return settings;
}

std::shared_ptr<const Policy> CurrentPolicy::get() const {
  const std::lock_guard lock(mutex_);
  return policy_;
}

void CurrentPolicy::set(Settings settings) {
  auto catalogue = std::make_shared<const xid::Catalogue>(settings.catalogue);
  auto policy = std::make_shared<const Policy>(Policy{std::move(settings), std::move(catalogue)});
  const std::lock_guard lock(mutex_);
  policy_ = std::move(policy);
}

}  // namespace gpuward::exporter
