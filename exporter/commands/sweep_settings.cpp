#include "exporter/commands/sweep_settings.h"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr std::int64_t kMostNodes = 1'000;
constexpr std::int64_t kShortestSeconds = 60;
constexpr std::int64_t kLongestSeconds = 86'400;

Status read_text(const SeedLookup& lookup, const char* key, std::string& out) {
  const auto text = lookup(key);
  if (!text) return std::unexpected(text.error());
  if (*text && !trim(**text).empty()) out = trim(**text);
  return {};
}

Status read_number(const SeedLookup& lookup, const char* key, std::int64_t min, std::int64_t max,
                   std::int64_t& out) {
  std::string text;
  if (auto read = read_text(lookup, key, text); !read || text.empty()) return read;
  const auto number = parse_integer<std::int64_t>(text);
  if (!number || *number < min || *number > max) {
    return fail(ErrorKind::kInvalid, std::string(key) + ": is not a whole number from " +
                                         std::to_string(min) + " to " + std::to_string(max));
  }
  out = *number;
  return {};
}

// Splits the value at blanks.
Status read_words(const SeedLookup& lookup, const char* key, std::vector<std::string>& out) {
  std::string text;
  if (auto read = read_text(lookup, key, text); !read || text.empty()) return read;
  std::istringstream words(text);
  out.assign(std::istream_iterator<std::string>(words), {});
  return {};
}

Status read_switch(const SeedLookup& lookup, const char* key, bool& out) {
  std::string text;
  if (auto read = read_text(lookup, key, text); !read || text.empty()) return read;
  if (text != "true" && text != "false" && text != "1" && text != "0")
    return fail(ErrorKind::kInvalid, std::string(key) + ": is neither true nor false");
  out = text == "true" || text == "1";
  return {};
}

}  // namespace

Result<SweepOptions> read_sweep_options(const SeedLookup& lookup, SweepOptions options) {
  auto nodes = static_cast<std::int64_t>(options.max_nodes);
  std::int64_t seconds = options.job.timeout.count();
  for (const Status& read :
       {read_text(lookup, "SWEEP_IMAGE", options.job.image),
        read_text(lookup, "SWEEP_NAMESPACE", options.job.ns),
        read_text(lookup, "SWEEP_RUNTIME_CLASS", options.job.runtime_class),
        read_text(lookup, "SWEEP_CONFIG_MAP", options.job.config_map),
        read_words(lookup, "SWEEP_PULL_SECRETS", options.job.pull_secrets),
        read_number(lookup, "MAX_NODES_PER_SWEEP", 1, kMostNodes, nodes),
        read_number(lookup, "JOB_TIMEOUT", kShortestSeconds, kLongestSeconds, seconds),
        read_switch(lookup, "ENABLE_LABEL", options.writes_labels),
        read_switch(lookup, "ENABLE_TAINT", options.writes_taint)}) {
    if (!read) return std::unexpected(read.error());
  }
  options.max_nodes = static_cast<std::size_t>(nodes);
  options.job.timeout = std::chrono::seconds(seconds);
  return options;
}

}  // namespace gpuward::exporter
