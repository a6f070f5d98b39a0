// A client of AMD's health service over its unix socket, like AMD's metricsclient; the service is
// gpuward's or that of AMD's own exporter. It does without the gRPC library and uses the call of
// the kubelet client. Used by `gpuward-exporter amd-health`.
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

  // Each call blocks for `timeout` at most. An error names the socket and, if no service listens
  // there, how to fix it: kNotFound no socket, kTimeout no response, else the error of the service.
  [[nodiscard]] Result<std::vector<GpuState>> list() const;
  // kNotFound for an id without a GPU: the service itself omits it.
  [[nodiscard]] Result<std::vector<GpuState>> get(const std::vector<std::string>& ids) const;
  // SetError: injects these counts; 0 removes one.
  [[nodiscard]] Status set_error(const std::string& id, const Counts& counts) const;

 private:
  [[nodiscard]] Result<std::string> call(std::string_view method, std::string message) const;
  [[nodiscard]] Result<std::vector<GpuState>> states(std::string_view method,
                                                     std::string message) const;

  std::filesystem::path socket_;
  std::chrono::milliseconds timeout_;
};

}  // namespace gpuward::exporter::amd_health
