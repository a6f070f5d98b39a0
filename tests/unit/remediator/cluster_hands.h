// Changes that a test makes to a cluster in the place of kubelets, controllers and operators, with
// every right. Base of the tests that run both on the fake and on a real API server.
#pragma once

#include <cstddef>
#include <string>

#include "core/runtime/json.h"

namespace gpuward::remediator {

class ClusterHands {
 public:
  virtual ~ClusterHands() = default;

  // Paths start at "/api/...". A failure throws std::runtime_error, because then the test itself is
  // broken.
  Json get(const std::string& path) { return ask("GET", path, nullptr); }
  Json create(const std::string& collection, const Json& object) {
    return ask("POST", collection, object);
  }
  Json patch(const std::string& path, const Json& merge_patch) {
    return ask("PATCH", path, merge_patch);
  }
  Json patch_status(const std::string& path, const Json& merge_patch) {
    return ask("PATCH", path + "/status", merge_patch);
  }
  // Deletes with grace 0, as a kubelet does.
  void remove(const std::string& path) { (void)ask("DELETE", path, {{"gracePeriodSeconds", 0}}); }
  [[nodiscard]] virtual bool has(const std::string& path) = 0;
  // Backdates the creation of the node, so that its setup counts as over.
  virtual void make_old(const std::string& node) = 0;
  // Return the paths of two files: one for the program, one for the operator who runs commands.
  [[nodiscard]] virtual std::string kubeconfig() = 0;
  [[nodiscard]] virtual std::string kubeconfig_of_human() = 0;

 protected:
  virtual Json ask(const std::string& method, const std::string& path, const Json& body) = 0;
};

}  // namespace gpuward::remediator
