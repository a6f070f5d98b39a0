// What all_reduce_perf of nccl-tests has written: pure. Columns are found by the table's own head,
// because their number has changed: with and without `root`, `error` or `#wrong`. Used by check 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::exporter {

struct NcclMeasurements {
  std::size_t rows = 0;           // sizes that were measured
  double best_bus_bandwidth = 0;  // GB/s, of all sizes, out of place and in place
  std::uint64_t best_size = 0;    // bytes at which that was
  // Results that were wrong, in the worst table; absent where the program did not come to its end.
  std::optional<std::uint64_t> wrong_values;
  std::string
      network;  // the NCCL network in use: "efa", "AWS Libfabric", "Socket"; empty: not said
  // How many tables have come to their end: each process writes its own where they do not know of
  // each other, because the program is built without MPI.
  std::size_t summaries = 0;
  std::string complaint;  // the first line in which the test, CUDA or NCCL complains
  // The complaint is one that CUDA makes of a GPU or link that is broken, not of the software.
  bool is_hardware_complaint = false;
  std::string own_hardware_complaint;  // the first such line that this host has written

  // It has measured something and summed up.
  [[nodiscard]] bool is_complete() const { return rows != 0 && wrong_values.has_value(); }
};

// `own_host`: this host as NCCL names it, up to the first dot; empty where nobody asks who
// complains.
[[nodiscard]] NcclMeasurements parse_nccl_output(std::string_view output,
                                                 std::string_view own_host = {});

}  // namespace gpuward::exporter
