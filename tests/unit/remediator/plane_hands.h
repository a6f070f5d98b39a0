// ClusterHands on a real kube-apiserver, with the admin's rights. The remediator runs under the
// shipped RBAC and admission policies, and a user exists who may approve. Used by the control plane
// tests.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/unit/remediator/cluster_hands.h"

namespace gpuward::remediator {

inline constexpr const char* kRemediatorToken = "remediator-token-0123456789";
inline constexpr const char* kRemediatorUser = "system:serviceaccount:gpuward:gpuward-remediator";
inline constexpr const char* kHumanToken = "human-token-0123456789";
inline constexpr const char* kHuman = "jane@example.com";

class PlaneHands final : public ClusterHands {
 public:
  // Adds the remediator's account and the operator to `users`.
  explicit PlaneHands(support::ControlPlaneOptions options = {}) {
    options.users.push_back({kRemediatorToken,
                             kRemediatorUser,
                             {"system:serviceaccounts", "system:serviceaccounts:gpuward"}});
    options.users.push_back({kHumanToken, kHuman, {"system:masters"}});
    auto plane = support::ControlPlane::start(std::move(options));
    if (!plane) throw std::runtime_error(plane.error().message);
    plane_ = std::move(*plane);
    for (const char* file : {"crd.yaml", "remediator-rbac.yaml", "remediator-switch.yaml",
                             "remediator-admission.yaml"})
      check(plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file));
    const auto ready = plane_->kubectl(
        {"wait", "--for=condition=Established", "--timeout=30s", "crd/remediations.gpuward.dev"});
    if (!ready || ready->exit_code != 0) throw std::runtime_error("the CRD is not established");
  }

  [[nodiscard]] const support::ControlPlane& plane() const { return *plane_; }
  bool has(const std::string& path) override {
    const auto answer = plane_->request("GET", path);
    return answer && answer->status == 200;
  }
  void make_old(const std::string& node) override {
    Json object = get("/api/v1/nodes/" + node);
    object["metadata"].erase("resourceVersion");
    object["metadata"]["creationTimestamp"] =
        to_rfc3339(lasting_clock().wall() - std::chrono::hours(24));
    check(plane_->put_into_store("/registry/minions/" + node, dump_json(object)));
  }
  std::string kubeconfig() override { return plane_->kubeconfig_for(kRemediatorToken).string(); }
  std::string kubeconfig_of_human() override {
    return plane_->kubeconfig_for(kHumanToken).string();
  }

 protected:
  Json ask(const std::string& method, const std::string& path, const Json& body) override {
    const auto answer = plane_->request(method, path, body.is_null() ? "" : dump_json(body));
    if (!answer) throw std::runtime_error(answer.error().message);
    if (answer->status >= 300) throw std::runtime_error(method + " " + path + ": " + answer->body);
    return parse_json(answer->body, {.max_bytes = 64U << 20U, .max_depth = 64}).value_or(Json());
  }

 private:
  static void check(const Status& status) {
    if (!status) throw std::runtime_error(status.error().message);
  }
  std::unique_ptr<support::ControlPlane> plane_;
};

}  // namespace gpuward::remediator
