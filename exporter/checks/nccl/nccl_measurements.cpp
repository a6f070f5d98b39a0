#include "exporter/checks/nccl/nccl_measurements.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/runtime/text.h"
#include "exporter/checks/check/text_table.h"

namespace gpuward::exporter {
namespace {

// Returns the text after the `:` of a line that begins with `name`.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return trim(line.substr(colon + 1));
}

// cudaGetErrorString() of codes 214, 220, 714, 719 and of a lost GPU (CUDA runtime API).
constexpr std::array<std::string_view, 5> kHardwareWords{
    "uncorrectable ECC error", "uncorrectable NVLink error", "hardware stack error",
    "NVLink was detected", "GPU has fallen off the bus"};
constexpr std::array<std::string_view, 6> kComplaints{
    "Test CUDA failure", "Test NCCL failure",      "Test failure",
    "NCCL WARN",         "unhandled system error", "unhandled cuda error"};

// Returns "node-a" for `node-a:12:34 [0] NCCL WARN ...`, also after NCCL's time stamp in brackets,
// and for `node-a: Test CUDA failure ...`.
std::string_view host_of(std::string_view line) {
  line = trim(line);
  if (line.starts_with('['))
    line = trim(line.substr(std::min(line.find(']'), line.size() - 1) + 1));
  line = line.substr(0, line.find(':'));
  return line.substr(0, line.find('.'));
}

class ReportReader {
 public:
  ReportReader(NcclMeasurements& report, std::string_view own_host)
      : report_(report), own_host_(own_host) {}

  void read(std::string_view line) {
    read_log(line);
    line = trim(line);
    if (line.starts_with('#')) line = trim(line.substr(1));
    if (const auto value = value_of(line, "Out of bounds values")) read_summary(*value);
    const auto words = words_of(line);
    if (words.size() > 4 && words[0] == "size" && words[1] == "count") {
      read_head(words);
    } else if (!bandwidths_.empty() && words.size() > bandwidths_.back()) {
      read_row(words);
    }
  }

 private:
  static std::string_view first_word(std::string_view text) {
    return text.substr(0, text.find_first_of(" \t"));
  }

  void read_summary(std::string_view value) {
    const auto wrong = parse_integer<std::uint64_t>(first_word(value));
    if (!wrong) return;
    report_.wrong_values = std::max(report_.wrong_values.value_or(0), *wrong);
    ++report_.summaries;
  }

  void read_head(const std::vector<std::string_view>& words) {
    bandwidths_.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "busbw") bandwidths_.push_back(i);
    }
  }

  void read_row(const std::vector<std::string_view>& words) {
    const auto size = parse_integer<std::uint64_t>(words[0]);
    if (!size || !parse_integer<std::uint64_t>(words[1])) return;
    double best = 0;
    for (const std::size_t column : bandwidths_) {
      const auto bandwidth = decimal(words[column]);
      if (!bandwidth || *bandwidth < 0) return;
      best = std::max(best, *bandwidth);
    }
    if (best > report_.best_bus_bandwidth) {
      report_.best_bus_bandwidth = best;
      report_.best_size = *size;
    }
    ++report_.rows;
  }

  void read_log(std::string_view line) {
    for (const std::string_view words :
         {"Selected Provider is ", "Selected provider is ", "Using network "}) {
      const auto at = line.find(words);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = trim(line.substr(at + words.size()));
      report_.network = to_valid_utf8(rest.substr(0, rest.find_first_of(",(")), 64);
      while (report_.network.ends_with(' ')) report_.network.pop_back();
    }
    const auto is_in = [&](std::string_view words) { return line.contains(words); };
    const bool is_hardware = std::ranges::any_of(kHardwareWords, is_in);
    if (!is_hardware && !std::ranges::any_of(kComplaints, is_in)) return;
    if (report_.complaint.empty() || (is_hardware && !report_.is_hardware_complaint))
      report_.complaint = to_valid_utf8(trim(line), 256);
    report_.is_hardware_complaint = report_.is_hardware_complaint || is_hardware;
    const bool is_own = !own_host_.empty() && host_of(line) == own_host_;
    if (is_hardware && is_own && report_.own_hardware_complaint.empty())
      report_.own_hardware_complaint = to_valid_utf8(trim(line), 256);
  }

  NcclMeasurements& report_;
  std::string_view own_host_;
  std::vector<std::size_t> bandwidths_;  // columns, ascending
};

}  // namespace

NcclMeasurements parse_nccl_output(std::string_view output, std::string_view own_host) {
  NcclMeasurements report;
  ReportReader reader(report, own_host);
  for_each_line(output, [&](std::string_view line) { reader.read(line); });
  return report;
}

}  // namespace gpuward::exporter
