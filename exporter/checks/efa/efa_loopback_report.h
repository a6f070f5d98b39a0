// Parses the output of fi_info, fi_pingpong and ib_write_bw into domains and bandwidths. Pure. Used
// by check 6.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::exporter {

// Returns the libfabric domains ("rdmap86s0-rdm") that `provider` itself offers for reliable
// datagrams, each once, in the order of fi_info. Layered providers ("efa;ofi_rxd") and datagram
// domains are other paths to the same devices.
[[nodiscard]] std::vector<std::string> fabric_domains(std::string_view fi_info,
                                                      std::string_view provider);

// Returns the RDMA device of a domain: "rdmap86s0" of "rdmap86s0-rdm".
[[nodiscard]] std::string_view device_of_domain(std::string_view domain);

// Returns the best of all message sizes in Gbit/s; nullopt if there is no table. MB/sec of
// fi_pingpong are 10^6 bytes of both directions, one at a time (util/pingpong.c).
[[nodiscard]] std::optional<double> pingpong_gbits(std::string_view output);

// Returns the best average of ib_write_bw in Gbit/s, from any unit that the program uses (MiB/sec
// without --report_gbits, though its header row says MB/sec).
[[nodiscard]] std::optional<double> write_bandwidth_gbits(std::string_view output);

}  // namespace gpuward::exporter
