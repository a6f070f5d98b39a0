#include "exporter/settings.h"

#include <utility>

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

}  // namespace

Result<Settings> load_settings(const std::filesystem::path& path) {
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
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
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
