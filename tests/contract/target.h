// The API servers that the contract tests run against: the fake and a real one, with the same cases
// for both, so that the fake's answers in unit tests also hold in a cluster.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "core/kube/config.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/json.h"

namespace gpuward::contract {

enum class TargetKind { kFake, kReal };

// The admin; a user who may only get nodes; a user that the server does not know.
enum class Role { kAdmin, kReader, kStranger };

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] kube::ClusterConfig config(Role role) const;
  // Sends a request as the admin, without core/kube, to prepare a test. PATCH sends a merge patch.
  [[nodiscard]] Result<Json> request(const std::string& method, const std::string& path,
                                     const Json& body = nullptr) const;
  // From now on a watch from resourceVersion 1 is too old.
  virtual void outdate_history() = 0;

 protected:
  [[nodiscard]] virtual std::string server() const = 0;
  [[nodiscard]] virtual std::string ca_file() const = 0;
  [[nodiscard]] virtual std::string token(Role role) const = 0;
};

// Started at first use, ended with the program; a real one takes 5 to 10 s.
[[nodiscard]] Result<Target*> target_of(TargetKind kind);
// Why there is none on this machine; empty if there is one.
[[nodiscard]] std::string why_unavailable(TargetKind kind);

// The custom resource that the cases work with, defined on every target.
[[nodiscard]] const kube::ResourceType& gadget_type();
inline constexpr const char* kGadgets = "/apis/contract.gpuward.dev/v1/gadgets";

}  // namespace gpuward::contract
