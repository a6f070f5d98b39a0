#include "exporter/gpu/amd/ras.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter::amd {
namespace {

// A faulty driver adds this at each query of a block: a multiple of it is not an error count
// (core/xid/data/other.inc, UE_counter_fault).
constexpr std::uint64_t kFaultyStep = 1'048'560;
constexpr std::string_view kSuffix = "_err_count";
// Enough for the retired pages of a GPU that has thousands of them.
constexpr std::size_t kMaxPagesBytes = 1U << 20U;

Maybe<std::uint64_t> parse_count(std::string_view text) {
  const auto count = parse_integer<std::uint64_t>(text);
  return count ? believable_count(*count) : std::nullopt;
}

Maybe<std::uint64_t> sum_of(const std::vector<RasBlock>& blocks,
                            Maybe<std::uint64_t> RasBlock::* count) {
  std::uint64_t sum = 0;
  for (const RasBlock& block : blocks) {
    if (!(block.*count)) return std::nullopt;
    sum += *(block.*count);
  }
  return blocks.empty() ? Maybe<std::uint64_t>() : sum;
}

// Returns the text after the last colon of `0x…: 0x… : R`.
std::string_view flag_of(std::string_view line) {
  const auto colon = line.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : trim(line.substr(colon + 1));
}

}  // namespace

Maybe<std::uint64_t> believable_count(std::uint64_t count) {
  if (count == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  if (count != 0 && count % kFaultyStep == 0) return std::nullopt;
  return count;
}

RasBlock parse_error_counts(std::string_view block, std::string_view text) {
  RasBlock counts;
  counts.block = block;
  for (const std::string_view line : lines_of(text)) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view kind = line.substr(0, colon);
    const Maybe<std::uint64_t> count = parse_count(trim(line.substr(colon + 1)));
    if (kind == "ue") counts.uncorrected = count;
    if (kind == "ce") counts.corrected = count;
    if (kind == "de") counts.deferred = count;
  }
  return counts;
}

std::vector<RasBlock> read_ras(const std::filesystem::path& device) {
  std::vector<RasBlock> blocks;
  for (const std::string& name : list_names(device / "ras")) {
    if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) continue;
    const auto text = read_attribute(device / "ras" / name);
    const std::string_view block = std::string_view(name).substr(0, name.size() - kSuffix.size());
    blocks.push_back(parse_error_counts(block, text.value_or("")));
  }
  return blocks;
}

std::optional<std::uint64_t> count_bad_pages(std::string_view text) {
  std::uint64_t pages = 0;
  for (const std::string_view line : lines_of(text)) {
    if (line.empty()) continue;
    const std::string_view flag = flag_of(line);
    if (flag != "R" && flag != "P" && flag != "F") return std::nullopt;
    ++pages;
  }
  return pages;
}

std::optional<std::uint64_t> read_bad_pages(const std::filesystem::path& device) {
  const auto text = read_file(device / "ras/gpu_vram_bad_pages", kMaxPagesBytes);
  return text ? count_bad_pages(*text) : std::nullopt;
}

void add_totals(const std::vector<RasBlock>& blocks, EccCounters& ecc) {
  ecc.corrected_volatile.total = sum_of(blocks, &RasBlock::corrected);
  ecc.uncorrected_volatile.total = sum_of(blocks, &RasBlock::uncorrected);
  const auto umc = std::ranges::find(blocks, "umc", &RasBlock::block);
  if (umc == blocks.end()) return;
  ecc.corrected_volatile.dram = umc->corrected;
  ecc.uncorrected_volatile.dram = umc->uncorrected;
}

}  // namespace gpuward::exporter::amd
