// How a sabotage bends what goes over the wire, as JSON: requests without their preconditions,
// answers without what they warn of; and the policy, without its limits. Nothing happens where the
// guard is on.
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

// What a path is about, and the object's name; empty for a collection.
struct Address {
  Resource resource = Resource::kOther;
  std::string name;
};
[[nodiscard]] Address address_of(const http::ClientRequest& request);

[[nodiscard]] Policy bent_policy(const Stage& stage, Policy policy);
[[nodiscard]] http::ClientRequest bent_request(Stage& stage, const Address& to,
                                               http::ClientRequest request);
// The answer to a request that is swallowed; nullopt where it goes to the server.
[[nodiscard]] std::optional<http::ClientResponse> swallowed(Stage& stage, const Address& to,
                                                            const http::ClientRequest& request);
[[nodiscard]] std::string bent_answer(const Stage& stage, const Address& to, bool to_write,
                                      std::string body);

}  // namespace gpuward::remediator::simulation
