// The gRPC server of gpuward-amd-health: AMD's health service on a unix socket, under both names
// that it has. gRPC and the generated code are included in server.cpp only.
#pragma once

#include <filesystem>
#include <memory>

#include "core/model/result.h"
#include "exporter/amd_health/health_book.h"

namespace gpuward::exporter::amd_health {

// Whether SetError may inject errors, or is refused.
enum class Injection : bool { kRefused, kAllowed };

class Server {
 public:
  // Listens when this returns; the socket has mode 0600. kUnavailable if it cannot listen; errors
  // of prepare_socket_place(). `book` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(const std::filesystem::path& socket,
                                                             HealthBook& book, Injection injection);
  virtual ~Server() = default;  // stops listening, and removes the socket
};

}  // namespace gpuward::exporter::amd_health
