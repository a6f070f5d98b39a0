// The exporter's configuration file (--config.file), read whole or not at all:
//
//   profile: default                 # or seed: the table of the suite that gpuward replaces
//   xid:                             # what is different here, by code; sxid: likewise
//     "79": {severity: isolate, action: CONTACT_SUPPORT, cleared_by: operator}
//   nvlink_default: reset            # Xid 74 where its registers do not decide
//   nvlink5_default: monitor         # Xids 144-150 where no rule matches
//   driver_branch: 575               # chooses the NVLink5 rules
//   kernel_log: {path: /dev/kmsg, user_space_lines: mark}   # or refuse, or trust (tests only)
//   findings: {age: 24h}             # without a repeat, for findings that age clears
//   log: {level: info}
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/model/result.h"
#include "core/runtime/log.h"
#include "core/xid/catalogue.h"

namespace gpuward::exporter {

// What to do with an event in a line that user space has written into the kernel log.
enum class UserSpaceLines : std::uint8_t { kMark, kRefuse, kTrust };

struct Settings {
  xid::CatalogueOptions catalogue;
  std::string kernel_log_path = "/dev/kmsg";
  UserSpaceLines user_space_lines = UserSpaceLines::kMark;
  std::chrono::milliseconds findings_age = std::chrono::hours(24);
  std::optional<LogLevel> log_level;  // the flag wins where absent
};

// An empty path gives the defaults. kInvalid names file, line and field.
[[nodiscard]] Result<Settings> load_settings(const std::filesystem::path& path);

// The settings in force and the catalogue built from them.
struct Policy {
  Settings settings;
  std::shared_ptr<const xid::Catalogue> catalogue;
};

// Replaced as a whole by a reload. Any thread.
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
