// What a test does to a cluster in place of kubelets, controllers and people, with everybody's
// rights. Under the scenes that are played on the fake and on a real API server alike.
#pragma once

#include <cstddef>
#include <string>

#include "core/runtime/json.h"

namespace gpuward::remediator {

class ClusterHands {
 public:
  virtual ~ClusterHands() = default;

  // Paths from "/api/...". A failure throws std::runtime_error: it is the test that is broken.
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
  // With grace 0, as a kubelet does it.
  void remove(const std::string& path) { (void)ask("DELETE", path, {{"gracePeriodSeconds", 0}}); }
  [[nodiscard]] virtual bool has(const std::string& path) = 0;
  // The node was created so long ago that nobody sets it up any more.
  virtual void make_old(const std::string& node) = 0;
  // Files: for the program, and for the human who gives it commands.
  [[nodiscard]] virtual std::string kubeconfig() = 0;
  [[nodiscard]] virtual std::string kubeconfig_of_human() = 0;

 protected:
  virtual Json ask(const std::string& method, const std::string& path, const Json& body) = 0;
};

}  // namespace gpuward::remediator
