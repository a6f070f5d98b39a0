// A FakeKube with a port, for unit tests of clients, `./dev demo` and kubectl. Besides the API it
// serves /fake/..., with which a script sets faults:
//   POST /fake/faults {"kind":"conflict","method":"PATCH","path":"/api/v1/nodes/.*","times":2}
//   GET /fake/faults returns the hits; DELETE /fake/faults removes all
//   GET /fake/requests; DELETE /fake/requests
//   DELETE /fake/history makes old watches end with 410
//   POST /fake/kubelet ends all Terminating pods
#pragma once

#include <memory>
#include <string>

#include "core/http/server/server.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "tests/fakes/fake_kube.h"

namespace gpuward::fakes {

struct FakeApiServerOptions {
  std::string listen_address = "127.0.0.1:0";
  http::ServerTls tls = {};  // plain HTTP if empty
  FakeKubeOptions kube = {};
};

class FakeApiServer {
 public:
  // `clock` must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<FakeApiServer>> start(
      Clock& clock, const FakeApiServerOptions& options = {});
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  [[nodiscard]] std::string url() const;  // "http://127.0.0.1:PORT"
  [[nodiscard]] int port() const;
  // The contents of a client's --kubeconfig file.
  [[nodiscard]] std::string kubeconfig() const;
  [[nodiscard]] FakeKube& kube() { return kube_; }

 private:
  FakeApiServer(Clock& clock, const FakeApiServerOptions& options);
  FakeKube kube_;
  bool has_tls_;
  std::unique_ptr<http::Server> server_;  // declared after the members that it serves
};

}  // namespace gpuward::fakes
