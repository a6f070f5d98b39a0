#include <algorithm>
#include <string_view>

#include "core/model/gpu_reset_words.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/commands/gpu_reset.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAmdVendor = "0x1002";

std::string word_in(const fs::path& file) {
  return std::string(trim(read_file(file).value_or("")));
}

// Returns the numbers of AMD's cards in /sys/class/drm, ascending: the order of rocm-smi.
std::vector<unsigned> list_cards(const fs::path& sys) {
  std::vector<unsigned> cards;
  std::error_code failed;
  for (fs::directory_iterator entry(sys / "class/drm", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with("card")) continue;
    const auto number = parse_integer<unsigned>(std::string_view(name).substr(4));
    if (number && word_in(entry->path() / "device/vendor") == kAmdVendor) cards.push_back(*number);
  }
  std::ranges::sort(cards);
  return cards;
}

// The programs of ROCm 5 to 7 exit with 0 even after a failed reset. amd-smi prints a line for each
// GPU.
void judge_by_words(GpuReset& reset) {
  const auto says = [&](std::string_view word) { return reset.words.contains(word); };
  const bool has_failed = says("ail") || says("nable") || !says("uccess");
  if (reset.exit_code == kDone && has_failed) reset.exit_code = kFailed;
}

GpuReset reset_each_by_rocm_smi(const GpuResetTools& tools, std::size_t cards) {
  GpuReset all;
  for (std::size_t card = 0; card < cards; ++card) {
    GpuReset one = tools.call_reset("rocm-smi", {"--gpureset", "-d", std::to_string(card)});
    judge_by_words(one);
    all.words += one.words;
    all.ended = one.ended;
    if (one.exit_code == kDone) continue;
    all.exit_code = one.exit_code;
    if (one.exit_code == GpuReset::kNoSuchProgram) break;
  }
  return all;
}

// Reads the file that both programs read. The driver resets all GPUs of a hive together.
GpuReset ask_driver(const GpuResetTools& tools, const std::vector<unsigned>& cards) {
  GpuReset all;
  std::vector<std::string> hives;
  for (const unsigned card : cards) {
    const std::string number = std::to_string(card);
    const fs::path device = tools.host().sys / "class/drm" / ("card" + number) / "device";
    const std::string hive = word_in(device / "xgmi_hive_info/xgmi_hive_id");
    if (!hive.empty() && std::ranges::find(hives, hive) != hives.end()) continue;
    hives.push_back(hive);
    // `cat`, because a read lasts as long as the reset, and a program can be ended.
    const GpuReset one = tools.call_reset(
        "cat", {(tools.host().sys / "kernel/debug/dri" / number / "amdgpu_gpu_recover").string()});
    all.ended = one.ended;
    all.words += "card" + number + ": " + std::string(trim(one.words)) + "\n";
    if (one.exit_code != kDone || trim(one.words) != "0") all.exit_code = kFailed;
  }
  return all;
}

GpuReset reset_by_what_there_is(const GpuResetTools& tools, const std::vector<unsigned>& cards) {
  GpuReset reset = tools.call_reset("amd-smi", {"reset", "--gpureset", "--gpu", "all"});
  if (reset.exit_code != GpuReset::kNoSuchProgram) {
    judge_by_words(reset);
    return reset;
  }
  reset = reset_each_by_rocm_smi(tools, cards.size());
  return reset.exit_code == GpuReset::kNoSuchProgram ? ask_driver(tools, cards) : reset;
}

}  // namespace

GpuReset reset_amd_gpus(const GpuResetTools& tools) {
  const std::vector<unsigned> cards = list_cards(tools.host().sys);
  if (cards.empty()) return {kFailed, "no GPU of AMD in /sys/class/drm\n"};
  const GpuUse use = tools.wait_until_unused();
  if (auto refused = tools.refusal(use)) return *std::move(refused);
  if (use.kind != GpuUse::Kind::kNone)
    return {kFailed, use.words + "\n" + std::string(kInUse) + "\n"};
  GpuReset reset = reset_by_what_there_is(tools, cards);
  if (reset.exit_code != kDone) reset.words = tools.users() + std::move(reset.words);
  return reset;
}

}  // namespace gpuward::exporter
