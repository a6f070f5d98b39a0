// Sends every write of a simulation to a real kube-apiserver in the same order, and compares the
// objects on both servers. Each server sets its own UIDs, versions and creation times: they are
// translated on the way, and not compared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fakes/fake_kube.h"
#include "tests/simulation/written.h"
#include "tests/support/control_plane.h"

namespace gpuward::remediator::simulation {

class RealServer {
 public:
  explicit RealServer(const support::ControlPlane& plane) : plane_(plane) {}

  // The differences as text; empty if there are none.
  [[nodiscard]] std::string deliver(const std::vector<Written>& writes);
  [[nodiscard]] std::string compare(fakes::FakeKube& fake) const;
  // Deletes everything that the simulation has made.
  void clear();

 private:
  [[nodiscard]] std::string tell_one(const Written& write);
  [[nodiscard]] Json translated(const std::string& object, Json body) const;
  [[nodiscard]] Json ask(const std::string& method, const std::string& path,
                         const Json& body = nullptr) const;

  const support::ControlPlane& plane_;
  std::map<std::string, std::string> uids_;      // the real server's, by the fake's
  std::map<std::string, std::string> versions_;  // by path and the fake's version
};

}  // namespace gpuward::remediator::simulation
