// Asks AMD's health service over its unix socket as AMD's metricsclient does: gpuward's, or that of
// AMD's own exporter. Without the gRPC library, by the call that asks the kubelet too. Used by
// `gpuward-exporter amd-health`.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "exporter/amd_health/health_book.h"

namespace gpuward::exporter::amd_health {

class Client {
 public:
  explicit Client(std::filesystem::path socket,
                  std::chrono::milliseconds timeout = std::chrono::seconds(5));

  // Each blocks for `timeout` at most. An error names the socket, and where nobody serves it what
  // to do: kNotFound no socket, kTimeout no answer, else what the service says.
  [[nodiscard]] Result<std::vector<GpuState>> list() const;
  // kNotFound for an id that no GPU has: the service itself leaves it out.
  [[nodiscard]] Result<std::vector<GpuState>> get(const std::vector<std::string>& ids) const;
  // SetError: pretends these counts; 0 takes one away.
  [[nodiscard]] Status set_error(const std::string& id, const Counts& counts) const;

 private:
  [[nodiscard]] Result<std::string> call(std::string_view method, std::string message) const;
  [[nodiscard]] Result<std::vector<GpuState>> states(std::string_view method,
                                                     std::string message) const;

  std::filesystem::path socket_;
  std::chrono::milliseconds timeout_;
};

}  // namespace gpuward::exporter::amd_health
