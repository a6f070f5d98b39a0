// A node's /proc, /sys and /dev as files in a test's own folder, in the forms of the kernel;
// host_tree*.cpp names the documentation of each form. Used by every test of the exporter's reading
// of the machine:
//
//   support::HostTree node;
//   node.with_nvidia_gpus(8).with_efa(32).with_process(4711, "nv-fabricmanager");
//   node.falls_off_the_bus("0000:64:00.0");
//   const auto devices = list_pci_devices(node.paths());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exporter/host/host_paths.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {

struct PciSpec {
  std::uint32_t vendor = 0, device = 0, device_class = 0;
  std::string driver;  // empty: no driver
};

[[nodiscard]] inline PciSpec h100() { return {0x10de, 0x2330, 0x030200, "nvidia"}; }
[[nodiscard]] inline PciSpec h100_nvswitch() {
  return {0x10de, 0x22a3, 0x068000, "nvidia-nvswitch"};
}
[[nodiscard]] inline PciSpec connectx7() { return {0x15b3, 0x1021, 0x020700, "mlx5_core"}; }
[[nodiscard]] inline PciSpec mi300x() { return {0x1002, 0x74a1, 0x120000, "amdgpu"}; }
[[nodiscard]] inline PciSpec efa() { return {0x1d0f, 0xefa2, 0x020000, "efa"}; }

class HostTree {
 public:
  HostTree();  // booted an hour ago, no PCI device but a host bridge, processes 1 and 2
  [[nodiscard]] exporter::HostPaths paths() const;

  // Writes any file, by its path below the tree: "sys/class/…", "proc/stat". Makes the folders.
  HostTree& write(const std::string& path, std::string_view content);
  HostTree& link(const std::string& path, const std::string& target);
  HostTree& remove(const std::string& path);  // a folder with all of its files

  // PCI. Addresses in the form of sysfs: "0000:53:00.0".
  HostTree& with_pci(const std::string& address, const PciSpec& spec);
  HostTree& with_nvidia_gpus(unsigned count);  // at 53, 64, 75, ... with module and device nodes
  HostTree& with_amd_gpus(unsigned count);     // at c1, c2, ... with the module
  HostTree& with_nvswitches(unsigned count);   // at 05, 06, ...
  // ConnectX devices at d1, d2, ..., with "SW_MNG" in their vital product data if they manage
  // NVSwitches that are not on the bus.
  HostTree& with_nvswitch_managers(unsigned count);
  HostTree& with_connectx(unsigned count);
  [[nodiscard]] static std::string nvidia_address(unsigned index);  // of with_nvidia_gpus()
  [[nodiscard]] static std::string amd_address(unsigned index);
  // Its file in sysfs: pci_file("0000:53:00.0", "current_link_width").
  [[nodiscard]] static std::string pci_file(const std::string& address, std::string_view name);
  // The device answers only ones; the kernel still lists it.
  HostTree& falls_off_the_bus(const std::string& address);
  HostTree& loses_pci(const std::string& address);  // the kernel has removed it

  // RDMA. EFA devices at bus 10 and up (hexadecimal), named rdmap16s0 and up, with counters of
  // value `counter`, uverbs, device nodes and modules.
  HostTree& with_efa(unsigned count, std::uint64_t counter = 0);
  HostTree& loses_efa(unsigned index);  // of with_efa(): the kernel has removed it
  // One port, an InfiniBand card: "mlx5_0" at 0000:0f:00.0.
  HostTree& with_infiniband(const std::string& device);

  // `initstate` is live, coming or going.
  HostTree& with_module(const std::string& name, const std::string& version = "",
                        const std::string& initstate = "live");
  // Names are cut after 15 bytes, as in the kernel.
  HostTree& with_process(std::int64_t pid, const std::string& name, char state = 'S');
  // The real and the effective user; root by default.
  HostTree& with_uids(std::int64_t pid, unsigned real, unsigned effective);
  // A process of root, started by `parent`.
  HostTree& with_parent(std::int64_t pid, std::int64_t parent);
  // A name in /dev, such as "/dev/nvidia-uvm", is a character device there.
  HostTree& with_open_file(std::int64_t pid, const std::string& target);
  HostTree& with_memory_lock(std::int64_t pid, const std::string& soft_limit);  // or "unlimited"
  HostTree& with_cgroup(std::int64_t pid, const std::string& cgroup);

 private:
  HostTree& with_connectx(unsigned count, const std::string& model);
  HostTree& with_rdma(const std::string& address, const std::string& device, unsigned number);

  TempDir folder_;
};

}  // namespace gpuward::support
