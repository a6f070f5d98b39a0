// The seam by which the watcher learns which pods use which GPU, and its implementation by the
// kubelet's pod-resources socket (gRPC, v1). The composition root creates it for the watcher.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>

#include "core/model/result.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

class WorkloadSource {
 public:
  virtual ~WorkloadSource() = default;

  // The watcher's thread; blocks for ten seconds at most, and not after a stop. kNotFound: there is
  // no kubelet here.
  [[nodiscard]] virtual Result<Workloads> list(const std::stop_token& stop) = 0;
};

class Kubelet final : public WorkloadSource {
 public:
  static constexpr const char* kDefaultSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

  explicit Kubelet(std::filesystem::path socket = kDefaultSocket,
                   std::chrono::milliseconds timeout = std::chrono::seconds(10));
  [[nodiscard]] Result<Workloads> list(const std::stop_token& stop) override;

 private:
  std::filesystem::path socket_;
  std::chrono::milliseconds timeout_;
};

}  // namespace gpuward::exporter
