// The part of HostTree below /sys/class/infiniband (kernel,
// Documentation/ABI/stable/sysfs-class-infiniband). The names of EFA's counters are those of the
// kernel's efa_verbs.c, EFA_DEFINE_PORT_STATS and EFA_DEFINE_DEVICE_STATS.
#include <array>
#include <cstdio>

#include "tests/support/host_tree.h"

namespace gpuward::support {
namespace {

constexpr std::array kPortCounters{"tx_bytes",
                                   "tx_pkts",
                                   "rx_bytes",
                                   "rx_pkts",
                                   "rx_drops",
                                   "send_bytes",
                                   "send_wrs",
                                   "recv_bytes",
                                   "recv_wrs",
                                   "rdma_read_wrs",
                                   "rdma_read_bytes",
                                   "rdma_read_wr_err",
                                   "rdma_read_resp_bytes",
                                   "rdma_write_wrs",
                                   "rdma_write_bytes",
                                   "rdma_write_wr_err",
                                   "rdma_write_recv_bytes",
                                   "retrans_bytes",
                                   "retrans_pkts",
                                   "retrans_timeout_events",
                                   "unresponsive_remote_events",
                                   "impaired_remote_conn_events"};
constexpr std::array kDeviceCounters{"submitted_cmds",     "completed_cmds",  "cmds_err",
                                     "no_completion_cmds", "keep_alive_rcvd", "alloc_pd_err",
                                     "create_qp_err",      "create_cq_err",   "reg_mr_err",
                                     "alloc_ucontext_err", "create_ah_err",   "mmap_err"};

std::string efa_address(unsigned index) {
  std::array<char, 16> address{};
  std::snprintf(address.data(), address.size(), "0000:%02x:00.0", 0x10U + (index & 0x3FU));
  return address.data();
}

std::string efa_device(unsigned index) { return "rdmap" + std::to_string(0x10 + index) + "s0"; }

}  // namespace

HostTree& HostTree::with_rdma(const std::string& address, const std::string& device,
                              unsigned number) {
  const std::string folder = pci_file(address, "infiniband/" + device);
  link(folder + "/device", "../../../" + address);
  link("sys/class/infiniband/" + device,
       "../../devices/pci0000:00/" + address + "/infiniband/" + device);
  const std::string verbs = "uverbs" + std::to_string(number);
  write("sys/class/infiniband_verbs/" + verbs + "/ibdev", device + "\n");
  write("sys/class/infiniband_verbs/abi_version", "6\n");
  write("dev/infiniband/" + verbs, "");
  return with_module("ib_core").with_module("ib_uverbs");
}

HostTree& HostTree::loses_efa(unsigned index) {
  remove("sys/class/infiniband/" + efa_device(index));
  remove("sys/class/infiniband_verbs/uverbs" + std::to_string(index));
  return loses_pci(efa_address(index));
}

HostTree& HostTree::with_efa(unsigned count, std::uint64_t counter) {
  const std::string value = std::to_string(counter) + "\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string address = efa_address(i), device = efa_device(i);
    with_pci(address, efa());
    with_rdma(address, device, i);
    const std::string folder = pci_file(address, "infiniband/" + device);
    for (const char* const name : kDeviceCounters) write(folder + "/hw_counters/" + name, value);
    write(folder + "/hw_counters/lifespan", "10\n");
    const std::string port = folder + "/ports/1";
    for (const char* const name : kPortCounters) write(port + "/hw_counters/" + name, value);
    write(port + "/hw_counters/lifespan", "10\n");
    // efa_query_port() always returns these.
    write(port + "/state", "4: ACTIVE\n").write(port + "/phys_state", "5: LinkUp\n");
    write(port + "/rate", "100 Gb/sec (4X EDR)\n");
  }
  return with_module("efa", "2.13.0g");
}

HostTree& HostTree::with_infiniband(const std::string& device) {
  const std::string address = "0000:0f:00.0";
  with_pci(address, {0x15b3, 0x1021, 0x020700, "mlx5_core"});
  with_rdma(address, device, 100);
  const std::string port = pci_file(address, "infiniband/" + device + "/ports/1");
  write(port + "/state", "4: ACTIVE\n").write(port + "/phys_state", "5: LinkUp\n");
  write(port + "/rate", "400 Gb/sec (4X NDR)\n");
  write(port + "/counters/link_downed", "3\n").write(port + "/counters/symbol_error", "0\n");
  write(port + "/hw_counters/out_of_sequence", "17\n");
  return write(port + "/hw_counters/lifespan", "10\n");
}

}  // namespace gpuward::support
