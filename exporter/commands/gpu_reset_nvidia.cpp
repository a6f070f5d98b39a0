#include <algorithm>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/model/gpu_reset_words.h"
#include "core/runtime/text.h"
#include "exporter/commands/gpu_reset.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

const std::string kSmi = "nvidia-smi";
// Each call initialises the GPUs while persistence mode is off.
constexpr seconds kModeTakes{60};

// nvidia-smi talks to these daemons through sockets below /run: to the first to release the GPUs
// and take them back, to the second for a reset of GPUs behind NVSwitches. They run on the machine
// or in the driver container of NVIDIA's GPU operator.
class DaemonSockets {
 public:
  DaemonSockets(const fs::path& machine, const fs::path& run) {
    for (const char* daemon : {"nvidia-persistenced", "nvidia-fabricmanager"}) {
      for (const char* place : {"run", "run/nvidia/driver/run"})
        link(machine / place / daemon, run / daemon);
    }
  }
  ~DaemonSockets() {
    std::error_code ignored;
    for (const fs::path& link : links_) fs::remove(link, ignored);
  }
  DaemonSockets(const DaemonSockets&) = delete;
  DaemonSockets& operator=(const DaemonSockets&) = delete;

 private:
  void link(const fs::path& folder, const fs::path& to) {
    std::error_code failed;
    if (!fs::exists(folder / "socket", failed) || fs::exists(fs::symlink_status(to, failed)))
      return;
    fs::create_directory_symlink(folder, to, failed);
    if (!failed) links_.push_back(to);
  }
  std::vector<fs::path> links_;
};

// Turns persistence mode off in turn_off() for the GPUs that have it on, and restores it in the
// destructor.
class PersistenceMode {
 public:
  explicit PersistenceMode(const GpuResetTools& tools) : tools_(tools) {
    found_ = tools
                 .call(kSmi, {"--query-gpu=pci.bus_id,persistence_mode", "--format=csv,noheader"},
                       kModeTakes)
                 .words;
    std::istringstream lines(found_);
    for (std::string text; std::getline(lines, text);) {
      const std::string_view line = text;
      const auto comma = line.find(", ");
      if (comma == std::string_view::npos) continue;
      const bool is_on = trim(line.substr(comma + 2)) == "Enabled";
      has_off_ |= !is_on;
      if (is_on) on_.emplace_back(trim(line.substr(0, comma)));
    }
  }
  ~PersistenceMode() {
    if (is_off_) turn("1");
  }
  PersistenceMode(const PersistenceMode&) = delete;
  PersistenceMode& operator=(const PersistenceMode&) = delete;

  void turn_off() {
    if (on_.empty()) return;
    is_off_ = true;
    said_ = turn("0");
  }
  // Returns the mode as it was found and the driver's messages so far.
  [[nodiscard]] std::string words() const { return "persistence mode: " + found_ + said_; }

 private:
  // Uses one call for all GPUs if that changes no other GPU.
  std::string turn(const char* to) {
    if (!has_off_) return tools_.call_anyway(kSmi, {"-pm", to}, kModeTakes).words;
    std::string said;
    const auto ends = tools_.clock().steady() + kModeTakes;
    for (const std::string& gpu : on_) {
      const auto left = std::chrono::ceil<seconds>(ends - tools_.clock().steady());
      if (left.count() <= 0) break;
      said += tools_.call_anyway(kSmi, {"-i", gpu, "-pm", to}, left).words;
    }
    return said;
  }

  const GpuResetTools& tools_;
  std::string found_, said_;
  std::vector<std::string> on_;
  bool has_off_ = false, is_off_ = false;
};

GpuReset call_unused(const GpuResetTools& tools) {
  const GpuUse use = tools.wait_until_unused();  // nvidia-smi refuses while there is a user
  if (auto refused = tools.refusal(use)) return *std::move(refused);
  return tools.call_reset(kSmi, {"--gpu-reset"});
}

}  // namespace

GpuReset reset_nvidia_gpus(const GpuResetTools& tools, const fs::path& run) {
  const DaemonSockets sockets(tools.host().proc / "1/root", run);
  PersistenceMode persistence(tools);
  persistence.turn_off();
  GpuReset reset = call_unused(tools);
  // A program such as gpu-feature-discovery opens a GPU for a moment each minute.
  const bool is_in_use = reset.exit_code != kDone && says_in_use(reset.words);
  if (is_in_use && tools.pause()) {
    const GpuUse use = tools.wait_until_unused();
    if (use.kind != GpuUse::Kind::kSome && !tools.refusal(use))
      reset = tools.call_reset(kSmi, {"--gpu-reset"});
  }
  if (reset.exit_code != kDone)
    reset.words = tools.users() + persistence.words() + std::move(reset.words);
  return reset;
}

}  // namespace gpuward::exporter
