// A real gRPC server (python3-grpcio) with the kubelet's pod-resources service on a test's own
// socket. Used by the tests of exporter/pods and by other tests that need pods on a node.
#pragma once

#include <memory>
#include <string>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {

class KubeletSocket {
 public:
  // Empty if the machine has all that it needs.
  [[nodiscard]] static std::string why_unavailable();

  // `answer` in the form of tests/fakes/kubelet/pod_resources_server.py: JSON,
  // `status:CODE:MESSAGE`, `hang`, or `raw:HEX`. Waits until it serves; throws if it does not.
  explicit KubeletSocket(const std::string& answer);

  [[nodiscard]] std::string path() const { return (folder_ / "kubelet.sock").string(); }
  void stop() { (void)server_->stop(); }

 private:
  TempDir folder_;
  std::unique_ptr<Process> server_;
};

}  // namespace gpuward::support
