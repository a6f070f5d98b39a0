#include "tests/support/host_tree.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace gpuward::support {
namespace {

namespace fs = std::filesystem;

template <typename... Numbers>
std::string print(const char* format, Numbers... numbers) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, numbers...);
  return text.data();
}

// The first bytes of a type 0 header: vendor, device, command, status, revision and class, little
// endian (PCI Local Bus Specification 6.1).
std::string config_space(const PciSpec& spec) {
  std::string bytes(64, '\0');
  const auto put = [&bytes](std::size_t at, std::uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(0, spec.vendor, 2);
  put(2, spec.device, 2);
  put(9, spec.device_class, 3);
  return bytes;
}

std::string device_folder(const std::string& address) {
  return "sys/devices/pci0000:00/" + address;
}

}  // namespace

// proc(5): stat has `btime` in seconds since 1970, uptime has seconds.
HostTree::HostTree() {
  fs::create_directories(folder_ / "dev");
  write("proc/sys/kernel/random/boot_id", "3f1a6d0c-2b54-4d47-9a1e-6f0f6f1c2d3e\n");
  write("proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\nctxt 123\nbtime 1767222000\nprocesses 42\n");
  write("proc/uptime", "3600.25 86400.00\n");
  with_process(1, "systemd").with_process(2, "kthreadd");
  with_pci("0000:00:00.0", {0x8086, 0x0d57, 0x060000, ""});
}

exporter::HostPaths HostTree::paths() const {
  return {folder_ / "proc", folder_ / "sys", folder_ / "dev"};
}

HostTree& HostTree::write(const std::string& path, std::string_view content) {
  fs::create_directories((folder_ / path).parent_path());
  std::ofstream(folder_ / path, std::ios::binary | std::ios::trunc) << content;
  return *this;
}

HostTree& HostTree::link(const std::string& path, const std::string& target) {
  fs::create_directories((folder_ / path).parent_path());
  fs::remove(folder_ / path);
  fs::create_symlink(target, folder_ / path);
  return *this;
}

HostTree& HostTree::remove(const std::string& path) {
  fs::remove_all(folder_ / path);
  return *this;
}

std::string HostTree::pci_file(const std::string& address, std::string_view name) {
  return device_folder(address) + "/" + std::string(name);
}

// Kernel, Documentation/ABI/testing/sysfs-bus-pci; seen on a real machine: bus/pci/devices has
// links.
HostTree& HostTree::with_pci(const std::string& address, const PciSpec& spec) {
  const auto file = [&address](std::string_view name) { return pci_file(address, name); };
  write(file("vendor"), print("0x%04x\n", spec.vendor));
  write(file("device"), print("0x%04x\n", spec.device));
  write(file("class"), print("0x%06x\n", spec.device_class));
  write(file("config"), config_space(spec));
  write(file("current_link_speed"), "32.0 GT/s PCIe\n");
  write(file("max_link_speed"), "32.0 GT/s PCIe\n");
  write(file("current_link_width"), "16\n");
  write(file("max_link_width"), "16\n");
  if (!spec.driver.empty()) link(file("driver"), "../../../bus/pci/drivers/" + spec.driver);
  return link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:00/" + address);
}

// The addresses on a p5.48xlarge.
std::string HostTree::nvidia_address(unsigned index) {
  return print("0000:%02x:00.0", 0x53 + 0x11 * index);
}

std::string HostTree::amd_address(unsigned index) { return print("0000:%02x:00.0", 0xc1 + index); }

HostTree& HostTree::with_nvidia_gpus(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    with_pci(nvidia_address(i), h100());
    write("dev/nvidia" + std::to_string(i), "");
  }
  write("dev/nvidiactl", "").write("dev/nvidia-uvm", "");
  return with_module("nvidia", "570.133.20").with_module("nvidia_uvm", "570.133.20");
}

HostTree& HostTree::with_amd_gpus(unsigned count) {
  for (unsigned i = 0; i < count; ++i) with_pci(amd_address(i), mi300x());
  return with_module("amdgpu", "6.10.5");
}

HostTree& HostTree::with_nvswitches(unsigned count) {
  for (unsigned i = 0; i < count; ++i) with_pci(print("0000:%02x:00.0", 0x05 + i), h100_nvswitch());
  return *this;
}

// Vital product data: an identifier string, then read-only fields (PCI Local Bus Specification,
// appendix I). The texts are invented, except for SW_MNG.
HostTree& HostTree::with_connectx(unsigned count, const std::string& model) {
  const std::string fields = std::string("V3") + static_cast<char>(model.size()) + model;
  for (unsigned i = 0; i < count; ++i) {
    const std::string address = print("0000:%02x:00.0", 0xd1 + i);
    with_pci(address, connectx7());
    std::string data("\x82\x0a\0ConnectX-7\x90", 14);
    data += static_cast<char>(fields.size());
    write(pci_file(address, "vpd"), data + '\0' + fields + '\x78');
  }
  return *this;
}

HostTree& HostTree::with_nvswitch_managers(unsigned count) {
  return with_connectx(count, "SW_MNG");
}

HostTree& HostTree::with_connectx(unsigned count) { return with_connectx(count, "MCX75310AAS"); }

// Kernel, PCI_POSSIBLE_ERROR: a read without an answer gives ones.
HostTree& HostTree::falls_off_the_bus(const std::string& address) {
  write(pci_file(address, "config"), std::string(64, '\xFF'));
  write(pci_file(address, "current_link_speed"), "Unknown\n");
  return write(pci_file(address, "current_link_width"), "63\n");
}

HostTree& HostTree::loses_pci(const std::string& address) {
  return remove("sys/bus/pci/devices/" + address).remove(device_folder(address));
}

// Kernel, Documentation/ABI/stable/sysfs-module.
HostTree& HostTree::with_module(const std::string& name, const std::string& version,
                                const std::string& initstate) {
  write("sys/module/" + name + "/initstate", initstate + "\n");
  if (!version.empty()) write("sys/module/" + name + "/version", version + "\n");
  return *this;
}

}  // namespace gpuward::support
