// A fleet of made-up nodes behind the real pages, on a port of loopback: for the tests in a
// browser, the pictures in docs/images, and the bench.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/http/server/server.h"
#include "core/kube/api.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/web/site.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"

namespace gpuward::pages {

struct SceneSize {
  int nodes = 3, open = 0, closed = 0;
  bool is_broken = false;  // nobody leads, steps are stopped, the breaker is open
};

// "empty", "quiet", "busy", "broken".
[[nodiscard]] SceneSize scene_size(std::string_view name);

class Scene {
 public:
  explicit Scene(SceneSize size);

  [[nodiscard]] std::string url() const;
  // One that is open, with findings, steps and an approval that is asked for.
  [[nodiscard]] static std::string remediation() { return "gpu-001-1"; }
  [[nodiscard]] static std::string node() { return "gpu-001"; }

 private:
  void add_nodes();
  void add_remediations();
  void add_objects();

  class Nobody final : public kube::Credentials {
   public:
    Result<std::string> authorization() override { return std::string(); }
    void reject(const std::string&) override {}
  };

  const SceneSize size_;
  SystemClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  Nobody credentials_;
  kube::Api api_;
  remediator::ClusterView view_;
  remediator::CurrentPolicy policy_;
  remediator::Site site_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace gpuward::pages
