// A fleet of made-up nodes behind the real pages, on a loopback port: for the tests in a browser,
// the pictures in docs/images, and the bench.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/server/server.h"
#include "core/kube/api.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/policy/current_policy.h"
#include "remediator/tell/web/site.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"

namespace gpuward::pages {

struct SceneSize {
  int nodes = 3, open = 0, closed = 0;
  bool is_broken = false;  // no replica leads, steps are stopped, the breaker is open
};

// "empty", "quiet", "busy", "broken".
[[nodiscard]] SceneSize scene_size(std::string_view name);

class Scene {
 public:
  using Dress = std::function<std::vector<http::Route>(std::vector<http::Route>)>;

  // `dress` may change the routes before they are served.
  explicit Scene(SceneSize size, const Dress& dress = {});

  [[nodiscard]] std::string url() const;
  // The name of an open Remediation, with findings, steps and a pending approval.
  [[nodiscard]] static std::string remediation() { return "gpu-001-1"; }
  [[nodiscard]] static std::string node() { return "gpu-001"; }
  // An unhealthy node with a cancelled Remediation; the scene "busy" has it.
  [[nodiscard]] static std::string cancelled_node() { return "gpu-025"; }

 private:
  void add_nodes();
  void add_remediations();
  void add_objects();
  void report(int number, Json& json);

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
