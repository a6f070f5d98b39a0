// The API servers that the contract tests run against: the fake and a real one, the same cases for
// both, so that what unit tests learn from the fake holds in a cluster.
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

// The admin; somebody who may get nodes and nothing else; nobody that the server knows.
enum class Role { kAdmin, kReader, kStranger };

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] kube::ClusterConfig config(Role role) const;
  // As the admin, past core/kube: what a test needs to set the scene. Merge-patches where the
  // method is PATCH.
  [[nodiscard]] Result<Json> request(const std::string& method, const std::string& path,
                                     const Json& body = nullptr) const;
  // From now on a watch from resourceVersion 1 is too old.
  virtual void outdate_history() = 0;

 protected:
  [[nodiscard]] virtual std::string server() const = 0;
  [[nodiscard]] virtual std::string ca_file() const = 0;
  [[nodiscard]] virtual std::string token(Role role) const = 0;
};

// Started when first asked for, ended with the program; a real one takes 5 to 10 s.
[[nodiscard]] Result<Target*> target_of(TargetKind kind);
// Why there is none on this machine; empty where there is.
[[nodiscard]] std::string why_unavailable(TargetKind kind);

// The custom resource that the cases work with, defined on every target.
[[nodiscard]] const kube::ResourceType& gadget_type();
inline constexpr const char* kGadgets = "/apis/contract.gpuward.dev/v1/gadgets";

}  // namespace gpuward::contract
