#include "tests/contract/target.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "tests/contract/gadget_definition.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/support/control_plane.h"
#include "tests/support/wait.h"

namespace gpuward::contract {
namespace {

constexpr const char* kAdminToken = "token-of-the-admin";
constexpr const char* kReaderToken = "token-of-a-reader";
constexpr const char* kStrangersToken = "token-of-a-stranger";
constexpr const char* kReader = "reader";

class FakeTarget final : public Target {
 public:
  static Result<std::unique_ptr<Target>> start() {
    auto target = std::make_unique<FakeTarget>();
    auto server = fakes::FakeApiServer::start(target->clock_);
    if (!server) return std::unexpected(std::move(server.error()));
    target->server_ = std::move(*server);
    fakes::Access& access = target->server_->kube().access();
    access.allow_token(kAdminToken, "admin");
    access.allow_token(kReaderToken, kReader);
    for (const char* verb : {"create", "update", "patch", "delete"})
      access.deny({kReader, verb, ""});
    for (const char* resource : {"pods", "leases", "gadgets"}) access.deny({kReader, "", resource});
    return target;
  }
  void outdate_history() override { server_->kube().forget_history(); }

 protected:
  [[nodiscard]] std::string server() const override { return server_->url(); }
  [[nodiscard]] std::string ca_file() const override { return {}; }
  [[nodiscard]] std::string token(Role role) const override {
    switch (role) {
      case Role::kAdmin:
        return kAdminToken;
      case Role::kReader:
        return kReaderToken;
      case Role::kStranger:
        return kStrangersToken;
    }
    return {};
  }

 private:
  SystemClock clock_;
  std::unique_ptr<fakes::FakeApiServer> server_;
};

class RealTarget final : public Target {
 public:
  static Result<std::unique_ptr<Target>> start() {
    support::ControlPlaneOptions options;
    options.users = {{kReaderToken, kReader}};
    auto plane = support::ControlPlane::start(options);
    if (!plane) return std::unexpected(std::move(plane.error()));
    auto target = std::make_unique<RealTarget>();
    target->plane_ = std::move(*plane);
    if (auto granted = target->let_reader_get_nodes(); !granted)
      return std::unexpected(granted.error());
    return target;
  }
  // The cache of watches begins at the definition of the resource, which has a later version than
  // 1.
  void outdate_history() override {}

 protected:
  [[nodiscard]] std::string server() const override { return plane_->url(); }
  [[nodiscard]] std::string ca_file() const override { return plane_->ca_file(); }
  [[nodiscard]] std::string token(Role role) const override {
    switch (role) {
      case Role::kAdmin:
        return plane_->admin_token();
      case Role::kReader:
        return kReaderToken;
      case Role::kStranger:
        return kStrangersToken;
    }
    return {};
  }

 private:
  [[nodiscard]] Status let_reader_get_nodes() const {
    return plane_->apply_text(R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
)");
  }
  std::unique_ptr<support::ControlPlane> plane_;
};

// The server serves a definition a moment after it has accepted it.
Status define_gadgets(const Target& target) {
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const auto made = target.request("POST", path, parse_json(kGadgetDefinition).value());
  if (!made) return std::unexpected(made.error());
  const bool served =
      support::poll_until([&] { return target.request("GET", kGadgets).has_value(); });
  if (!served) return fail(ErrorKind::kTimeout, "gadgets were never served");
  return {};
}

// Owns the targets until the program ends.
class Targets final : public ::testing::Environment {
 public:
  Result<Target*> get(TargetKind kind) {
    auto& slot = kind == TargetKind::kFake ? fake_ : real_;
    if (slot) return slot.get();
    auto started = kind == TargetKind::kFake ? FakeTarget::start() : RealTarget::start();
    if (!started) return std::unexpected(std::move(started.error()));
    if (auto defined = define_gadgets(**started); !defined) return std::unexpected(defined.error());
    slot = std::move(*started);
    return slot.get();
  }
  void TearDown() override {
    fake_.reset();
    real_.reset();
  }

 private:
  std::unique_ptr<Target> fake_, real_;
};

Targets* const kTargets = dynamic_cast<Targets*>(::testing::AddGlobalTestEnvironment(new Targets));

}  // namespace

kube::ClusterConfig Target::config(Role role) const {
  kube::ClusterConfig made;
  made.server = server();
  made.tls.ca_file = ca_file();
  made.token = token(role);
  return made;
}

Result<Json> Target::request(const std::string& method, const std::string& path,
                             const Json& body) const {
  const kube::ClusterConfig admin = config(Role::kAdmin);
  http::CurlClient client(admin.tls);
  http::ClientRequest request;
  request.method = method;
  request.url = admin.server + path;
  request.headers = {
      {"Authorization", "Bearer " + admin.token},
      {"Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json"}};
  if (!body.is_null()) request.body = dump_json(body);
  const auto answer = client.send(request);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status >= 300) {
    return fail(ErrorKind::kInternal,
                method + " " + path + ": " + std::to_string(answer->status) + " " + answer->body);
  }
  return parse_json(answer->body);
}

Result<Target*> target_of(TargetKind kind) { return kTargets->get(kind); }

std::string why_unavailable(TargetKind kind) {
  return kind == TargetKind::kFake ? std::string() : support::ControlPlane::why_unavailable();
}

const kube::ResourceType& gadget_type() {
  static const kube::ResourceType kType{"contract.gpuward.dev", "v1", "gadgets", ""};
  return kType;
}

}  // namespace gpuward::contract
