// Parses the output of all_reduce_perf of nccl-tests. Pure. The header row of the table locates the
// columns, because their number has changed: with and without `root`, `error` or `#wrong`. Used by
// check 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::exporter {

struct NcclMeasurements {
  std::size_t rows = 0;           // sizes that were measured
  double best_bus_bandwidth = 0;  // GB/s, over all sizes, out of place and in place
  std::uint64_t best_size = 0;    // bytes at which the best was reached
  // Wrong results in the worst table; absent if the program did not finish.
  std::optional<std::uint64_t> wrong_values;
  std::string
      network;  // the NCCL network in use: "efa", "AWS Libfabric", "Socket"; empty: not reported
  // The number of complete tables. If the program is built without MPI, the processes do not know
  // each other and each writes its own.
  std::size_t summaries = 0;
  std::string complaint;  // the first line in which the test, CUDA or NCCL complains
  // CUDA reports a broken GPU or link in the complaint, not a software error.
  bool is_hardware_complaint = false;
  std::string own_hardware_complaint;  // the first such line from this host

  // The output has measurements and a summary.
  [[nodiscard]] bool is_complete() const { return rows != 0 && wrong_values.has_value(); }
};

// `own_host`: this host as NCCL names it, up to the first dot; empty if the caller does not need
// own_hardware_complaint.
[[nodiscard]] NcclMeasurements parse_nccl_output(std::string_view output,
                                                 std::string_view own_host = {});

}  // namespace gpuward::exporter
