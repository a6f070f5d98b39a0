#include "exporter/kernel_log/kmsg_record.h"

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// Removes the next field of `header` and returns it; empty at its end.
std::string_view next_field(std::string_view& header) {
  const auto comma = std::min(header.find(','), header.size());
  const std::string_view field = header.substr(0, comma);
  header.remove_prefix(std::min(comma + 1, header.size()));
  return field;
}

std::string_view pci_device_of(std::string_view properties) {
  constexpr std::string_view kDevice = " DEVICE=+pci:";
  while (!properties.empty()) {
    const auto end = std::min(properties.find('\n'), properties.size());
    const std::string_view line = properties.substr(0, end);
    if (line.starts_with(kDevice)) return line.substr(kDevice.size());
    properties.remove_prefix(std::min(end + 1, properties.size()));
  }
  return {};
}

}  // namespace

std::optional<KmsgRecord> parse_kmsg_record(std::string_view raw) {
  const auto semicolon = raw.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  std::string_view header = raw.substr(0, semicolon);
  const auto priority = parse_integer<unsigned>(next_field(header));
  const auto sequence = parse_integer<std::uint64_t>(next_field(header));
  const auto microseconds = parse_integer<std::int64_t>(next_field(header));
  const std::string_view flag = next_field(header);
  if (!priority || !sequence || !microseconds || *microseconds < 0) return std::nullopt;
  KmsgRecord record;
  record.priority = *priority;
  record.sequence = *sequence;
  record.since_boot = std::chrono::microseconds(*microseconds);
  if (!flag.empty()) record.flag = flag.front();
  record.text = raw.substr(semicolon + 1);
  const auto line_end = record.text.find('\n');
  if (line_end != std::string_view::npos)
    record.pci_device = pci_device_of(record.text.substr(line_end + 1));
  record.text = record.text.substr(0, line_end);
  return record;
}

}  // namespace gpuward::exporter
