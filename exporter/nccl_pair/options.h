// The options of `gpuward-exporter nccl-pair`; remediator and program agree on them
// (docs/checks.md). Set by the flags, read by Pair.
#pragma once

#include <chrono>
#include <string>

namespace gpuward::exporter::nccl_pair {

struct Options {
  int rank = 0;         // 0 listens at address and port, 1 connects to it
  std::string address;  // of rank 0: an IPv4 or IPv6 address, never a name
  int port = 0;
  std::string token;                                             // of this pair only
  double min_bus_bandwidth = 350;                                // GB/s
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // for the whole run
  // The wait for the other side, whose image may still be pulled. Never more than half of
  // `timeout`.
  std::chrono::milliseconds join_timeout = std::chrono::minutes(5);
  int gpus = 0;                               // 0: all of them
  std::string nccl_library = "libnccl.so.2";  // both as dlopen takes them
  std::string cuda_library = "libcuda.so.1";
};

}  // namespace gpuward::exporter::nccl_pair
