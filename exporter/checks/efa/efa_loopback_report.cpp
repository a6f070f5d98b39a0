#include "exporter/checks/efa/efa_loopback_report.h"

#include <algorithm>

#include "core/runtime/text.h"
#include "exporter/checks/check/text_table.h"

namespace gpuward::exporter {
namespace {

constexpr double kGbitsOfMegabytes = 8.0 / 1000;
constexpr double kGbitsOfMebibytes = 8.0 * 1.048576 / 1000;

// One block of fi_info's output, which begins with `provider:`.
struct Block {
  std::string_view provider, domain, type;
};

void keep_domain(const Block& block, std::string_view provider, std::vector<std::string>& domains) {
  if (block.provider != provider || block.type != "FI_EP_RDM" || block.domain.empty()) return;
  if (std::ranges::find(domains, block.domain) == domains.end()) domains.emplace_back(block.domain);
}

// Returns the best value of `column` in the rows that begin with a number, below the header row.
std::optional<double> best_below(std::string_view output, std::string_view first_word,
                                 std::string_view column) {
  std::optional<std::size_t> index;
  std::optional<double> best;
  for_each_line(output, [&](std::string_view line) {
    const auto words = words_of(line);
    if (words.empty()) return;
    if (words[0] == first_word) {
      const auto at = std::ranges::find(words, column);
      if (at != words.end()) index = static_cast<std::size_t>(at - words.begin());
      return;
    }
    if (!index || words.size() <= *index || words[0][0] < '0' || words[0][0] > '9') return;
    const auto value = decimal(words[*index]);
    if (value && *value >= 0 && (!best || *value > *best)) best = value;
  });
  return best;
}

}  // namespace

std::vector<std::string> fabric_domains(std::string_view fi_info, std::string_view provider) {
  std::vector<std::string> domains;
  Block block;
  for_each_line(fi_info, [&](std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "provider") {
      keep_domain(block, provider, domains);
      block = {value, {}, {}};
    } else if (key == "domain") {
      block.domain = value;
    } else if (key == "type") {
      block.type = value;
    }
  });
  keep_domain(block, provider, domains);
  return domains;
}

std::string_view device_of_domain(std::string_view domain) {
  constexpr std::string_view kEnding = "-rdm";
  return domain.ends_with(kEnding) ? domain.substr(0, domain.size() - kEnding.size()) : domain;
}

std::optional<double> pingpong_gbits(std::string_view output) {
  const auto megabytes = best_below(output, "bytes", "MB/sec");
  return megabytes ? std::optional(*megabytes * kGbitsOfMegabytes) : std::nullopt;
}

std::optional<double> write_bandwidth_gbits(std::string_view output) {
  // "BW average[Gb/sec]" is two words in the header row but one column in the other rows.
  constexpr std::size_t kAverage = 3;
  std::optional<double> factor, best;
  for_each_line(output, [&](std::string_view line) {
    const auto words = words_of(line);
    if (!words.empty() && words[0] == "#bytes") {
      if (line.contains("average[Gb/sec]")) factor = 1;
      if (line.contains("average[MB/sec]") || line.contains("average[MiB/sec]"))
        factor = kGbitsOfMebibytes;
    }
    if (!factor || words.size() <= kAverage || !parse_integer<std::uint64_t>(words[0])) return;
    const auto value = decimal(words[kAverage]);
    if (value && *value >= 0 && (!best || *value * *factor > *best)) best = *value * *factor;
  });
  return best;
}

}  // namespace gpuward::exporter
