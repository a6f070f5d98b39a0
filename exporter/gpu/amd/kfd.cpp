#include "exporter/gpu/amd/kfd.h"

#include <map>
#include <string>

#include "core/runtime/text.h"
#include "exporter/gpu/amd/sysfs.h"

namespace gpuward::exporter::amd {
namespace {

namespace fs = std::filesystem;

using Properties = std::map<std::string, std::uint64_t, std::less<>>;

// `simd_count 1216`, a line each. Large numbers are there too; a node has some sixty lines.
Properties parse_properties(std::string_view text) {
  Properties properties;
  for (const std::string_view line : lines_of(text)) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    if (const auto value = parse_integer<std::uint64_t>(trim(line.substr(blank + 1)))) {
      properties.emplace(line.substr(0, blank), *value);
    }
  }
  return properties;
}

std::uint64_t value_of(const Properties& properties, std::string_view key) {
  const auto found = properties.find(key);
  return found == properties.end() ? 0 : found->second;
}

// A GPU has SIMDs and no CPU core, or both where it is an APU.
std::optional<PciAddress> gpu_of(const Properties& properties) {
  if (value_of(properties, "gfx_target_version") == 0) return std::nullopt;
  // kfd_topology.c: the address as PCI has it, bus in the high byte, device in the upper five bits
  // of the low one.
  const std::uint64_t location = value_of(properties, "location_id");
  return PciAddress{static_cast<std::uint32_t>(value_of(properties, "domain")),
                    static_cast<std::uint8_t>(location >> 8U),
                    static_cast<std::uint8_t>(location >> 3U & 0x1FU), std::nullopt};
}

}  // namespace

Maybe<bool> KfdGpus::has(const PciAddress& address) const {
  for (const PciAddress& gpu : gpus) {
    if (gpu.same_device(address)) return true;
  }
  return is_complete ? Maybe<bool>(false) : std::nullopt;
}

KfdGpus read_kfd(const fs::path& sys) {
  const fs::path nodes = sys / "class/kfd/kfd/topology/nodes";
  KfdGpus found;
  const auto names = list_names(nodes);
  found.is_complete = !names.empty();
  for (const std::string& name : names) {
    const auto text = read_text(nodes / name / "properties");
    if (!text) found.is_complete = false;
    if (const auto gpu = text ? gpu_of(parse_properties(*text)) : std::nullopt) {
      found.gpus.insert(*gpu);
    }
  }
  return found;
}

}  // namespace gpuward::exporter::amd
