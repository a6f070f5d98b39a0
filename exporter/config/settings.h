// The exporter's configuration file (--config.file), accepted as a whole or not at all;
// docs/configuration.md has its keys.
//
// The settings of the suite that gpuward replaces override it under their old names: first those of
// the environment, then the files of a mounted ConfigMap (--config.directory; seed_keys.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/log.h"
#include "core/runtime/yaml_schema.h"
#include "core/xid/catalogue.h"
#include "exporter/checks/check/check_settings.h"
#include "exporter/checks/rules/amd_thresholds.h"
#include "exporter/config/seed_keys.h"
#include "exporter/kernel_log/line_rules.h"
#include "exporter/publish/metrics_options.h"
#include "exporter/publish/node/node_settings.h"

namespace gpuward::exporter {

// How to handle an event in a line that user space has written into the kernel log.
enum class UserSpaceLines : std::uint8_t { kMark, kRefuse, kTrust };

// The gRPC service for AMD's device plugin. Changes need a restart.
struct AmdHealthSettings {
  std::optional<bool> is_enabled;  // absent: enabled if there is an AMD accelerator
  std::filesystem::path socket =
      "/var/lib/amd-metrics-exporter/amdgpu_device_metrics_exporter_grpc.socket";
  bool has_all_vendors = false;  // also NVIDIA's GPUs
};

// The source of the cloud's announcements for this machine.
struct AnnouncementSettings {
  std::string_view cloud = "auto";  // "auto": from the firmware; "none"; else the cloud's name
  std::chrono::milliseconds interval = std::chrono::seconds(5);
  std::string endpoint;  // empty: the cloud's own
};

struct Settings {
  xid::CatalogueOptions catalogue;
  std::string kernel_log_path = "/dev/kmsg";
  UserSpaceLines user_space_lines = UserSpaceLines::kMark;
  LineRules line_rules;
  // Severities of the permanent problems in node-problem-detector's files, by condition; others are
  // monitor.
  std::map<std::string, Severity> npd_severities;
  std::chrono::milliseconds findings_age = std::chrono::hours(24);
  std::optional<LogLevel> log_level;  // if absent, the flag's value
  CheckSettings checks;
  NodeSettings node;
  std::filesystem::path kubelet_socket = "/var/lib/kubelet/pod-resources/kubelet.sock";
  std::filesystem::path amd_config = "/etc/metrics/config.json";
  AmdThresholds amd_thresholds = default_amd_thresholds();
  AmdHealthSettings amd_health;
  AnnouncementSettings announcements;
  MetricsOptions metrics;  // a reload does not change them
};

struct SettingsSources {
  std::filesystem::path file{};              // empty: the defaults
  std::filesystem::path folder{};            // of the mounted ConfigMap; empty: none
  std::vector<std::filesystem::path> npd{};  // node-problem-detector's files, or folders of them
  SeedLookup environment = [](std::string_view) { return std::nullopt; };
};

// Returns the keys that the file may have.
[[nodiscard]] std::vector<YamlKey> settings_keys();

// kInvalid names the file with line and field, or the key.
[[nodiscard]] Result<Settings> load_settings(const SettingsSources& sources);

// The settings in force and the catalogue built from them.
struct Policy {
  Settings settings;
  std::shared_ptr<const xid::Catalogue> catalogue;
};

// A reload replaces the whole policy. Thread-safe.
class CurrentPolicy {
 public:
  explicit CurrentPolicy(Settings settings) { set(std::move(settings)); }
  [[nodiscard]] std::shared_ptr<const Policy> get() const;
  void set(Settings settings);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Policy> policy_;
};

}  // namespace gpuward::exporter
