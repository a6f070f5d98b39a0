// How a sabotage bends the JSON on the wire: requests lose their preconditions, answers lose their
// warnings, and the policy loses its limits. Changes nothing while the guard is on.
#pragma once

#include <optional>
#include <string>

#include "core/http/client/client.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

enum class Resource {
  kNode,
  kRemediation,
  kStatus,
  kSwitch,
  kLedger,
  kLease,
  kExclusions,
  kJob,
  kPods,
  kOther
};

// The resource and the object's name in a path; the name of a collection is empty.
struct Address {
  Resource resource = Resource::kOther;
  std::string name;
};
[[nodiscard]] Address address_of(const http::ClientRequest& request);

[[nodiscard]] Policy bent_policy(const Stage& stage, Policy policy);
[[nodiscard]] http::ClientRequest bent_request(Stage& stage, const Address& to,
                                               http::ClientRequest request);
// The answer to a request that the sabotage swallows; nullopt if the request goes to the server.
[[nodiscard]] std::optional<http::ClientResponse> swallowed(Stage& stage, const Address& to,
                                                            const http::ClientRequest& request);
[[nodiscard]] std::string bent_answer(const Stage& stage, const Address& to, bool to_write,
                                      std::string body);

}  // namespace gpuward::remediator::simulation
