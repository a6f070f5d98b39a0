// A FakeKube with a port: what unit tests of clients, `./dev demo` and kubectl talk to. Beside the
// API it serves /fake/..., so that a script can make things go wrong:
//   POST /fake/faults {"kind":"conflict","method":"PATCH","path":"/api/v1/nodes/.*","times":2}
//   DELETE: none GET /fake/faults (hits)   GET /fake/requests   DELETE /fake/requests   DELETE
//   /fake/history (410 for old watches) POST /fake/kubelet (ends all Terminating pods)
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
  http::ServerTls tls = {};  // plain HTTP where empty
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
  // What a client's --kubeconfig has to hold.
  [[nodiscard]] std::string kubeconfig() const;
  [[nodiscard]] FakeKube& kube() { return kube_; }

 private:
  FakeApiServer(Clock& clock, const FakeApiServerOptions& options);
  FakeKube kube_;
  bool has_tls_;
  std::unique_ptr<http::Server> server_;  // ends before what it serves
};

}  // namespace gpuward::fakes
