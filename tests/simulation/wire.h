// The connection of one replica to the API server: here requests fail, answers are lost, the
// process dies before or after any single call, and others act in between. It reports every write
// that succeeds to the truth and the invariants.
#pragma once

#include <functional>

#include "core/http/client/client.h"
#include "tests/fakes/in_process_client.h"
#include "tests/simulation/bend.h"
#include "tests/simulation/invariants.h"

namespace gpuward::remediator::simulation {

// The process of a replica dies. Thrown through the running code; all its memory is lost.
struct Crash {};

class Wire final : public http::Client {
 public:
  // `interrupt` lets others act before a request.
  Wire(Stage& stage, Invariants& invariants, std::string identity, std::function<void()> interrupt)
      : stage_(stage),
        invariants_(invariants),
        identity_(std::move(identity)),
        interrupt_(std::move(interrupt)) {}

  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  [[nodiscard]] bool is_interrupted();
  Result<http::ClientResponse> send_or_fail(const Address& to, const http::ClientRequest& request);
  Result<http::ClientResponse> forward(const Address& to, const http::ClientRequest& request);
  void crash_perhaps(const char* when);
  void hear(const Address& to, const http::ClientRequest& request, const std::string& body);
  void keep(const http::ClientRequest& request, const http::ClientResponse& answer);
  void check_leads(const Address& to) const;
  void note_read(const Address& to);
  void hear_job(const http::ClientRequest& request, const std::string& body);
  void hear_exclusions(const http::ClientRequest& request, const std::string& body);
  void hear_lease(const std::string& body);
  void hear_ledger(const std::string& body);
  void hear_version(const Address& to);
  void hear_node(const std::string& body);
  void hear_remediation(const std::string& name);

  Stage& stage_;
  Invariants& invariants_;
  const std::string identity_;  // in the lease
  std::function<void()> interrupt_;
  fakes::InProcessClient client_{stage_.kube};
};

}  // namespace gpuward::remediator::simulation
