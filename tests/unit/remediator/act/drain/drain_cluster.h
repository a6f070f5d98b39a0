// A cluster in memory with one node full of pods, and the parts that a drain needs. Base of the
// tests of the evictor and the drainer.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "remediator/act/drain/drainer.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator {

class OpenCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class DrainCluster : public ::testing::Test {
 protected:
  static constexpr const char* kPodsPath = "/api/v1/namespaces/default/pods";
  static constexpr const char* kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

  // Adds a pod of a ReplicaSet and returns its UID.
  std::string add_pod(const std::string& name, const std::string& node = "gpu-01",
                      const Json& more = nullptr) {
    Json pod = fakes::pod(name, node, {{"app", name}});
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "ReplicaSet"},
                                                       {"name", "rs"},
                                                       {"uid", "rs-uid"},
                                                       {"controller", true}}});
    if (more.is_object()) pod.merge_patch(more);
    kube_.create(kPodsPath, pod);
    kube_.patch_status(path_of(name), fakes::running_status());
    return string_at(member_at(kube_.get(path_of(name)), "metadata"), "uid");
  }
  // Adds a node and returns its UID.
  std::string add_node(const std::string& name) {
    const Json node = kube_.create("/api/v1/nodes", fakes::ready_node(name));
    return string_at(member_at(node, "metadata"), "uid");
  }
  static std::string path_of(const std::string& pod) { return std::string(kPodsPath) + "/" + pod; }
  void add_budget(const std::string& name, const std::string& app, int allowed) {
    kube_.create(kBudgets, fakes::budget(name, {{"app", app}}));
    allow(name, allowed);
  }
  void allow(const std::string& budget, int allowed) {
    kube_.patch_status(std::string(kBudgets) + "/" + budget, fakes::budget_status(allowed));
  }
  std::size_t evictions() { return kube_.requests("POST", kPodsPath).size(); }
  std::size_t deletions() { return kube_.requests("DELETE", kPodsPath).size(); }

  static kube::ApiOptions options() {
    kube::ApiOptions made;
    made.server = "http://fake";
    return made;
  }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  OpenCredentials credentials_;
  kube::Api api_{options(), http_, credentials_, clock_};
  std::atomic<bool> may_send_ = true;
  std::atomic<int> asked_ = 0;
  Permit permit_ = [this]() -> Status {
    ++asked_;
    if (may_send_) return {};
    return fail(ErrorKind::kCancelled, "the stop switch is on");
  };
};

}  // namespace gpuward::remediator
