#include "tests/e2e/fake_cluster.h"

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/e2e/manifest_json.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/kubernetes_parts.h"

namespace gpuward::e2e {
namespace {

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kConfigMaps = "/api/v1/namespaces/gpuward/configmaps";

}  // namespace

Status FakeCluster::start() {
  auto server = fakes::FakeApiServer::start(clock_);
  if (!server) return std::unexpected(server.error());
  server_ = *std::move(server);
  if (auto status = create(kDefinitions, "crd.yaml"); !status) return status;
  server_->kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpuward"}}}});
  if (auto status = create(kConfigMaps, "remediator-switch.yaml"); !status) return status;
  // The same name as the chart's: `gpuwardctl status` reads the budget limits there.
  server_->kube().create(kConfigMaps, {{"metadata", {{"name", "gpuward-remediator"}}},
                                       {"data", {{"policy.yaml", "mode: cordon\n"}}}});
  return write_file_atomically(kubeconfig_, support::kubeconfig_text(url(), {}, "demo"), 0600);
}

Result<std::string> FakeCluster::get(const std::string& path) const {
  const auto response = support::http_get(url() + path);
  if (response.status == 200) return response.body;
  return fail(ErrorKind::kUnavailable,
              "GET " + path + " gave HTTP " + std::to_string(response.status));
}

Status FakeCluster::add_gpu_node(const std::string& name) {
  Json node = fakes::ready_node(name);
  // This machine's boot, because its exporter runs here.
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  if (!boot) return std::unexpected(boot.error());
  node["status"]["nodeInfo"]["bootID"] = std::string(trim(*boot));
  server_->kube().create("/api/v1/nodes", node);
  return {};
}

Status FakeCluster::create(const std::string& collection, const std::string& manifest) {
  const auto object =
      manifest_as_json(std::filesystem::path(GPUWARD_SOURCE_DIR) / "manifests" / manifest);
  if (!object) return std::unexpected(object.error());
  server_->kube().create(collection, *object);
  return {};
}

Result<std::unique_ptr<Cluster>> start_fake_cluster(const std::filesystem::path& folder) {
  auto cluster = std::make_unique<FakeCluster>(folder);
  if (auto status = cluster->start(); !status) return std::unexpected(status.error());
  return std::unique_ptr<Cluster>(std::move(cluster));
}

}  // namespace gpuward::e2e
