#include "exporter/config/settings.h"

#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "core/runtime/yaml.h"
#include "exporter/config/npd_config.h"
#include "exporter/config/user_checks.h"

namespace gpuward::exporter {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr unsigned kMostDevices = 1024;

const auto kSeverities = yaml_words<Severity, 5>();
const auto kClearedBy = yaml_words<ClearedBy, 5>();  // kCheck is not for people
constexpr YamlWord<xid::Profile> kProfiles[] = {{"default", xid::Profile::kDefault},
                                                {"seed", xid::Profile::kSeed}};
constexpr YamlWord<UserSpaceLines> kUserSpaceLines[] = {{"mark", UserSpaceLines::kMark},
                                                        {"refuse", UserSpaceLines::kRefuse},
                                                        {"trust", UserSpaceLines::kTrust}};
constexpr YamlWord<std::string_view> kClouds[] = {
    {"auto", "auto"}, {"none", "none"}, {"aws", "aws"}, {"gce", "gce"}, {"azure", "azure"}};
const auto kPresets = yaml_words<NodePreset, 5>();
constexpr YamlWord<LogLevel> kLogLevels[] = {{"debug", LogLevel::kDebug},
                                             {"info", LogLevel::kInfo},
                                             {"warn", LogLevel::kWarn},
                                             {"error", LogLevel::kError}};

xid::Override read_override(const YamlMap& map) {
  xid::Override override;
  map.read_word("severity", override.severity, kSeverities,
                "severity of the finding; default for this and the next two keys: the catalogue, "
                "docs/xid.md");
  map.read_word("cleared_by", override.cleared_by, kClearedBy, "what clears the finding");
  if (map.has("action")) {
    map.read("action", override.action.emplace(), "the recommended action");
    if (override.action->empty()) map.reject("action", "may not be empty");
  }
  return override;
}

std::map<std::uint32_t, xid::Override> read_overrides(const YamlMap& table) {
  std::map<std::uint32_t, xid::Override> overrides;
  for (const auto& [code_text, row] : table.entries("CODE", "79")) {
    const auto code = parse_integer<std::uint32_t>(code_text);
    if (!code || *code == 0) {
      table.reject(code_text, "is not an error number");
    } else if (!row.scalar().empty()) {
      table.reject(code_text, "is not a mapping with severity, action or cleared_by");
    } else if (!overrides.emplace(*code, read_override(row)).second) {
      table.reject(code_text, "is listed twice");
    }
  }
  return overrides;
}

xid::CatalogueOptions read_catalogue(const YamlMap& root) {
  xid::CatalogueOptions options;
  root.read_word("profile", options.profile, kProfiles,
                 "which severities apply; `seed`: those of the suite that gpuward replaces");
  options.xid = read_overrides(root.map("xid", "changes to the catalogue, by code"));
  options.sxid =
      read_overrides(root.map("sxid", "changes to the NVSwitch (SXid) catalogue, by code"));
  root.read_word("nvlink_default", options.nvlink_default, kSeverities,
                 "severity of Xid 74 if its registers do not determine it");
  root.read_word("nvlink5_default", options.nvlink5_default, kSeverities,
                 "severity of Xids 144 to 150 if no rule matches");
  root.read("driver_branch", options.driver_branch, 300, 9999,
            "branch of the NVIDIA driver; it selects the NVLink5 rules");
  return options;
}

void read_kernel_log(const YamlMap& map, Settings& settings) {
  map.read("path", settings.kernel_log_path,
           "the kernel log, or any file or FIFO; `--kernel-log.path` overrides it");
  if (settings.kernel_log_path.empty()) map.reject("path", "is empty");
  map.read_word("user_space_lines", settings.user_space_lines, kUserSpaceLines,
                "how lines that user space wrote are treated; `trust` is for tests");
  read_line_rules(map, settings.line_rules);
}

void read_gpu(const YamlMap& map, CheckSettings& checks) {
  map.read("interval", checks.gpu_interval, seconds(1), hours(1), "time between two readings");
  map.read("timeout", checks.gpu_timeout, seconds(1), minutes(10), "time limit of one reading");
  map.read("library_timeout", checks.library_timeout, seconds(1), hours(24),
           "how long the driver library may fail after it has worked; then the exporter exits, and "
           "its container restarts with the new library");
  map.read("settling_time", checks.settling_time, seconds(0), hours(24),
           "time after boot or driver load in which a hang or a lost GPU is only `monitor`");
}

std::optional<int> check_number(std::string_view text) {
  const auto number = parse_integer<int>(text);
  constexpr int kLastCheck = 6;
  return number && *number >= 0 && *number <= kLastCheck ? number : std::nullopt;
}

void read_enabled(const YamlMap& map, std::vector<int>& enabled) {
  std::vector<std::string> words;
  for (const int number : enabled) words.push_back(std::to_string(number));
  map.read("enabled", words,
           "checks to run in each cycle, by number: 0, 2 and 3; another number has no effect "
           "except a warning in the log");
  enabled.clear();
  for (const std::string& word : words) {
    const auto number = check_number(word);
    if (!number) map.reject("enabled", "must contain only check numbers from 0 to 6");
    if (number) enabled.push_back(*number);
  }
}

void read_timeouts(const YamlMap& table, CheckSettings& checks) {
  for (const auto& [word, row] : table.entries("NUMBER", "2")) {
    const auto number = check_number(word);
    if (!number) {
      table.reject(word, "is not a check number from 0 to 6");
      continue;
    }
    table.read(word, checks.timeouts[*number], seconds(1), days(365),
               "time limit of this check; default: its built-in limit");
  }
}

void read_tools(const YamlMap& map, std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> words(folders.begin(), folders.end());
  map.read("tool_dirs", words,
           "folders that are searched for dcgmi, all_reduce_perf and fi_pingpong before PATH");
  folders.assign(words.begin(), words.end());
}

void read_checks(const YamlMap& map, CheckSettings& checks) {
  map.read("interval", checks.check_interval, seconds(1), days(365),
           "time between two cycles of the checks");
  read_enabled(map, checks.enabled);
  const YamlMap dcgm = map.map("dcgm_l2", "DCGM level 2");
  dcgm.read("enabled", checks.is_dcgm_l2_enabled, "run this check on idle nodes");
  dcgm.read("interval", checks.dcgm_l2_interval, minutes(1), days(365), "time between two runs");
  read_timeouts(map.map("timeouts", "time limits, by number of the check"), checks);
  map.read("results_dir", checks.results_dir, "folder for a JSON file of each check; empty: none");
  read_tools(map, checks.tool_dirs);
  map.read("max_retired_pages_sbe", checks.max_retired_pages_sbe, 0, 1'000'000,
           "maximum number of pages retired for single-bit errors on a GPU; a higher number causes "
           "a finding");
  map.read("efa_min_gbits", checks.efa_min_gbits, 0, 1'000'000,
           "minimum bandwidth of an EFA device in Gbit/s; a lower bandwidth causes a finding");
  map.read_word("dcgm_bare_fail", checks.dcgm_bare_fail, kSeverities,
                "severity when a DCGM test fails without an error; with `profile: seed` each "
                "failed test is isolate");
  map.read("dcgm_l4_beside_telemetry", checks.is_dcgm_l4_beside_telemetry,
           "run level 4 even if dcgm-exporter is running; by default, level 4 is then skipped");
  read_programs(map, checks.programs);
}

void read_instance(const YamlMap& map, CheckSettings& checks) {
  map.read("type", checks.instance_type, "the instance type; default: from the instance metadata");
  for (const YamlMap& item : map.maps("profiles", "hardware of each instance type")) {
    InstanceProfile profile;
    item.require("type", profile.type, "the instance type");
    item.read("gpus", profile.gpus, 0, kMostDevices, "number of GPUs");
    item.read("efa", profile.efa_devices, 0, kMostDevices, "number of EFA devices");
    item.read("nvlink", profile.expects_nvlink, "whether NVLink is expected");
    item.read("provider", profile.fabric_provider,
              "provider of libfabric, as fi_info prints it; `tcp;ofi_rxm` is TCP");
    checks.profiles.add(std::move(profile));
  }
}

void read_node(const YamlMap& map, NodeSettings& node) {
  map.read_word("preset", node.preset, kPresets,
                "which names the labels, the taint and the annotations have on the node");
  map.read("labels", node.writes_labels, "write the labels");
  map.read("taint", node.writes_taint, "set the taint");
  map.read("annotation", node.writes_annotation, "write the annotations");
  map.read("condition", node.writes_condition, "write the condition GPUProblem");
  map.read("events", node.writes_events,
           "write Events about the node when findings appear and end");
}

void read_amd(const YamlMap& map, Settings& settings) {
  map.read("config", settings.amd_config, "file with `HealthThresholds` in AMD's own format");
  const YamlMap service = map.map("health_service", "AMD's gRPC service; read only at startup");
  AmdHealthSettings& health = settings.amd_health;
  service.read("enabled", health.is_enabled,
               "serve it; default: on if an AMD accelerator is on the PCI bus");
  service.read("socket", health.socket, "the socket of the service");
  service.read("all_vendors", health.has_all_vendors,
               "also report NVIDIA GPUs, with the IDs `nvidia-0`, `nvidia-1`, ...");
}

void read_metrics(const YamlMap& map, MetricsOptions& metrics) {
  map.read("dcgm_compat", metrics.dcgm_compat,
           "also serve metrics with the names and labels of dcgm-exporter");
  map.read("efa_compat", metrics.efa_compat,
           "also serve metrics with the names of the EFA node exporter");
  map.read("per_link", metrics.per_link, "also serve a series for each NVLink or XGMI link");
}

void read_announcements(const YamlMap& map, AnnouncementSettings& announcements) {
  map.read_word("cloud", announcements.cloud, kClouds,
                "cloud whose metadata service is queried; `auto`: the cloud that the firmware "
                "names, or none");
  map.read("interval", announcements.interval, seconds(1), minutes(5), "time between two requests");
  map.read("endpoint", announcements.endpoint,
           "address of the metadata service; default: the cloud's own");
  if (!announcements.endpoint.empty() && !announcements.endpoint.starts_with("http://"))
    map.reject("endpoint", "must begin with http://");
}

void read_npd(const YamlMap& map, std::map<std::string, Severity>& severities) {
  const YamlMap table =
      map.map("severities", "severities of permanent problems, by their condition");
  for (const auto& [condition, row] : table.entries("CONDITION", "KernelDeadlock")) {
    Severity& severity = severities[condition] = Severity::kMonitor;
    table.read_word(
        condition, severity, kFindingSeverities,
        "severity of the findings from its programs and rules; default for GPUProblem: reset");
  }
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

Result<Settings> read_settings_file(const YamlFile& file) {
  Settings settings;
  const YamlMap root = file.root();
  settings.catalogue = read_catalogue(root);
  read_kernel_log(root.map("kernel_log", "where kernel messages are read"), settings);
  root.map("findings", "how long findings are kept")
      .read("age", settings.findings_age, minutes(1), days(365),
            "how long a finding with cleared_by `age` is kept if it does not repeat");
  root.map("log", "the exporter's own log")
      .read_word("level", settings.log_level, kLogLevels,
                 "level of the log; default: `--log.level`");
  read_gpu(root.map("gpu", "readings of the GPUs"), settings.checks);
  read_checks(root.map("checks", "the periodic checks"), settings.checks);
  read_instance(root.map("instance", "the instance type and its profile"), settings.checks);
  read_node(root.map("node", "what is written to the node in Kubernetes"), settings.node);
  root.map("pods", "which pods use which GPUs")
      .read("socket", settings.kubelet_socket,
            "socket of the kubelet's pod-resources API; empty: not used");
  read_amd(root.map("amd", "AMD GPUs"), settings);
  read_announcements(root.map("announcements", "what the cloud announces about this machine"),
                     settings.announcements);
  read_npd(root.map("npd", "the files of `--npd.config`"), settings.npd_severities);
  read_metrics(
      root.map("metrics",
               "metrics under other names; read only at startup; the flags add to this section"),
      settings.metrics);
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  settings.checks.is_seed_profile = settings.catalogue.profile == xid::Profile::kSeed;
  if (settings.checks.is_seed_profile) settings.node.untold_node = UntoldNode::kFails;
  return settings;
}

Result<Settings> load_file(const std::filesystem::path& path) {
  if (path.empty()) return Settings();
  auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  return read_settings_file(*file);
}

}  // namespace

std::vector<YamlKey> settings_keys() {
  const YamlFile file = YamlFile::describing();
  static_cast<void>(read_settings_file(file));
  return file.keys();
}

Result<Settings> load_settings(const SettingsSources& sources) {
  auto settings = load_file(sources.file);
  if (!settings) return settings;
  if (auto status = load_amd_thresholds(*settings); !status) {
    return std::unexpected(status.error());
  }
  if (auto status = add_npd_configs(sources.npd, *settings); !status) {
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
