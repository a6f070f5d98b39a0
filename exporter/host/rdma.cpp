#include "exporter/host/rdma.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "core/model/pci_address.h"
#include "core/runtime/attribute.h"
#include "core/runtime/text.h"
#include "exporter/host/pci.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// Far above the numbers of any node; they bound the cost of a broken tree.
constexpr std::size_t kMaxRdmaDevices = 256, kMaxPorts = 16, kMaxCounters = 512;

using Counters = std::map<std::string, std::uint64_t>;

void read_counters(const fs::path& folder, Counters& into) {
  for (const std::string& name : list_folder(folder, kMaxCounters).names) {
    // How long the kernel keeps the card's values (kernel,
    // Documentation/ABI/stable/sysfs-class-infiniband).
    if (name == "lifespan") continue;
    if (const auto value = read_number(folder / name)) into[name] = *value;
  }
}

// `4: ACTIVE`.
std::optional<unsigned> read_state(const fs::path& path) {
  const auto text = read_attribute(path);
  return text ? parse_integer<unsigned>(text->substr(0, text->find(':'))) : std::nullopt;
}

// `100 Gb/sec (4X EDR)`.
std::optional<double> read_rate(const fs::path& path) {
  const auto text = read_attribute(path);
  const auto unit = text ? text->find(" Gb/sec") : std::string::npos;
  if (unit == std::string::npos) return std::nullopt;
  double rate = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + unit, rate);
  if (error != std::errc{} || end != text->data() + unit || !(rate >= 0)) return std::nullopt;
  return rate;
}

bool is_efa_device(const fs::path& pci_folder) {
  const auto vendor = read_hex(pci_folder / "vendor");
  const auto device = read_hex(pci_folder / "device");
  return vendor && device && is_efa(*vendor, *device);
}

void read_port(const fs::path& folder, const std::string& port, RdmaReading& reading) {
  Counters counters;
  if (!reading.is_efa) {
    reading.ports[port] = {read_state(folder / "state"), read_state(folder / "phys_state"),
                           read_rate(folder / "rate")};
    read_counters(folder / "counters", counters);
  }
  read_counters(folder / "hw_counters", counters);
  if (!counters.empty()) reading.counters[port] = std::move(counters);
}

RdmaReading read_rdma_device(const fs::path& folder, const std::string& name) {
  RdmaReading reading;
  reading.device = name;
  reading.is_efa = is_efa_device(folder / "device");
  if (const auto address = parse_pci_address(link_name(folder / "device"))) {
    reading.pci_bus_id = address->bus_id();
  }
  Counters own;
  read_counters(folder / "hw_counters", own);
  if (!own.empty()) reading.counters[""] = std::move(own);
  for (const std::string& port : list_folder(folder / "ports", kMaxPorts).names) {
    read_port(folder / "ports" / port, port, reading);
  }
  return reading;
}

}  // namespace

std::vector<RdmaReading> read_rdma(const HostPaths& host) {
  const fs::path folder = host.sys / "class/infiniband";
  std::vector<RdmaReading> readings;
  for (const std::string& name : list_folder(folder, kMaxRdmaDevices).names) {
    readings.push_back(read_rdma_device(folder / name, name));
  }
  return readings;
}

std::vector<UserVerbs> list_user_verbs(const HostPaths& host) {
  const fs::path folder = host.sys / "class/infiniband_verbs";
  std::vector<UserVerbs> all;
  for (const std::string& name : list_folder(folder, kMaxRdmaDevices).names) {
    if (!name.starts_with("uverbs")) continue;  // the folder also contains abi_version
    std::error_code ignored;
    all.push_back({name, read_attribute(folder / name / "ibdev").value_or(""),
                   fs::exists(host.dev / "infiniband" / name, ignored)});
  }
  return all;
}

}  // namespace gpuward::exporter
