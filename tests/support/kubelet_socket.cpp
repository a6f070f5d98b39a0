#include "tests/support/kubelet_socket.h"

#include <stdexcept>

#include "tests/places.inc"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

// Debian's own, which finds Debian's packages; another python3 may be before it on PATH.
constexpr const char* kPython = "/usr/bin/python3";

std::string script() {
  return std::string(GPUWARD_SOURCE_DIR) + "/tests/fakes/kubelet/pod_resources_server.py";
}

}  // namespace

std::string KubeletSocket::why_unavailable() {
  const auto outcome =
      Process::run({.argv = {kPython, "-c", "import grpc, google.protobuf.json_format"}});
  if (!outcome || outcome->exit_code != 0) {
    return "no python3-grpcio and python3-protobuf on this machine: run `./dev deps`";
  }
  if (find_program("protoc").empty()) return "no protoc on this machine: run `./dev deps`";
  return {};
}

KubeletSocket::KubeletSocket(const std::string& answer) {
  // A long answer does not fit into a command line.
  const std::string file = folder_.write("answer", answer).string();
  auto server = Process::spawn({.argv = {kPython, script(), path(), "@" + file}});
  if (!server) throw std::runtime_error(server.error().message);
  server_ = *std::move(server);
  const auto is_ready = [this] {
    return server_->output().find("ready") != std::string::npos || !server_->running();
  };
  if (!poll_until(is_ready) || !server_->running()) {
    throw std::runtime_error("the gRPC server does not serve: " + server_->error_output());
  }
}

}  // namespace gpuward::support
