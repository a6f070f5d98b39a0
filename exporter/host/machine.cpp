#include "exporter/host/machine.h"

#include <algorithm>
#include <string_view>

#include "core/runtime/attribute.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// Only zeros or only ones mean that there is none (SMBIOS specification, 7.2.1). kUnset is the
// value of AMI's firmware if the maker of the board has not set one.
bool is_nobodys(std::string_view uuid) {
  constexpr std::string_view kUnset = "03000200-0400-0500-0006-000700080009";
  const auto is_all = [uuid](char digit) {
    return std::ranges::all_of(uuid, [digit](char c) { return c == digit || c == '-'; });
  };
  return uuid == kUnset || is_all('0') || is_all('f');
}

}  // namespace

Machine read_machine(const HostPaths& host) {
  const auto dmi = host.sys / "class/dmi/id";
  Machine machine;
  machine.product_name = read_attribute(dmi / "product_name").value_or("");
  machine.system_uuid = to_lower(read_attribute(dmi / "product_uuid").value_or(""));
  if (is_nobodys(machine.system_uuid)) machine.system_uuid.clear();
  return machine;
}

}  // namespace gpuward::exporter
