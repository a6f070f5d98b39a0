// Tells a real kube-apiserver every write of a simulation again, in the same order, and compares
// what both servers are left with. UIDs, versions and times of creation are the servers' own: they
// are translated on the way, and left out of the comparison.
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

  // What went differently, in words; empty where nothing did.
  [[nodiscard]] std::string deliver(const std::vector<Written>& writes);
  [[nodiscard]] std::string compare(fakes::FakeKube& fake) const;
  // Everything that the simulation has made goes.
  void clear();

 private:
  [[nodiscard]] std::string tell_one(const Written& write);
  [[nodiscard]] Json translated(const std::string& object, Json body) const;
  [[nodiscard]] Json ask(const std::string& method, const std::string& path,
                         const Json& body = nullptr) const;

  const support::ControlPlane& plane_;
  std::map<std::string, std::string> uids_;      // of the real one, by the fake's
  std::map<std::string, std::string> versions_;  // by path and the fake's version
};

}  // namespace gpuward::remediator::simulation
