// manifests/exporter-rbac.yaml and exporter-admission.yaml on a real kube-apiserver: the changes
// that an agent's own token may make, and all those that it may not.
#include <gmock/gmock.h>

#include "core/http/client/client.h"
#include "core/kube/config.h"
#include "core/kube/connection.h"
#include "core/runtime/json.h"
#include "exporter/publish/node/node_change.h"
#include "exporter/publish/node/node_writer.h"
#include "exporter/watch/own_node.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/support/rights.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOwn = "/api/v1/nodes/gpu-01";
constexpr const char* kOther = "/api/v1/nodes/gpu-02";
constexpr const char* kOwnStatus = "/api/v1/nodes/gpu-01/status";
constexpr const char* kNs = "/api/v1/namespaces/gpu-healthcheck";
constexpr const char* kAgent = "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-agent";
constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";

Json taint(const std::string& key, const std::string& value,
           const std::string& effect = "NoSchedule") {
  return {{"key", key}, {"value", value}, {"effect", effect}};
}

const Json kRemediation = taint("gpuward.dev/remediation", "reboot");
const Json kForeign = taint("theirs", "1", "NoExecute");
const Json kUnhealthy = taint("gpuward.dev/unhealthy", "true");

Json taints(std::vector<Json> list) { return {{"spec", {{"taints", list}}}}; }
Json labels(const std::string& key, const Json& value) {
  return {{"metadata", {{"labels", {{key, value}}}}}};
}
Json annotations(const std::string& key, const Json& value) {
  return {{"metadata", {{"annotations", {{key, value}}}}}};
}
Json condition(const std::string& type, const std::string& status) {
  return {{"status", {{"conditions", Json::array({{{"type", type}, {"status", status}}})}}}};
}

class AdmissionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    audit_ = new support::RightsAudit({kAgent});
    auto started = support::ControlPlane::start({.apiserver_flags = audit_->apiserver_flags()});
    ASSERT_TRUE(started) << started.error().message;
    plane_ = started->release();
    for (const char* file :
         {"exporter-rbac.yaml", "exporter-admission.yaml", "exporter-sweep.yaml"}) {
      const auto applied = plane_->apply(std::string(GPUWARD_SOURCE_DIR "/manifests/") + file);
      ASSERT_TRUE(applied) << applied.error().message;
    }
    for (const char* node : {"gpu-01", "gpu-02"})
      must("POST", "/api/v1/nodes", fakes::ready_node(node));
    must("PATCH", kOwn, taints({kRemediation, kForeign}));
    must("PATCH", kOther, taints({}));  // the admission of every new node adds a not-ready taint
    must("PATCH", kOwn, labels("pool", "a"));
    must("PATCH", kOwn, annotations("theirs", "x"));
    must("PATCH", kOwnStatus, {{"status", {{"capacity", {{"nvidia.com/gpu", "8"}}}}}});
    agent_ = token_of("gpu-healthcheck-agent", "agent");
    quarantine_ = token_of("gpu-healthcheck-quarantine", "quarantine");
    sweeper_ = token_of("gpu-healthcheck-sweeper", "sweeper");
    unbound_ = token_of("gpu-healthcheck-agent", "");
    // A policy is in force a moment after it was accepted.
    ASSERT_TRUE(support::wait_until(
        [] {
          return !allowed(agent_, kOther, labels(own("status"), "x")) &&
                 !allowed(agent_, kOwn, labels("pool", "b"));
        },
        "policies in force"));
    must("PATCH", kOther, labels(own("status"), nullptr));
    must("PATCH", kOwn, labels("pool", "a"));
  }
  static void TearDownTestSuite() {
    delete plane_;
    delete audit_;
  }
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable()); }

  static std::string own(const std::string& name) { return "gpuward.dev/" + name; }

  static Json must(const std::string& method, const std::string& path, const Json& body) {
    const auto answer = plane_->request(method, path, dump_json(body));
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return nullptr;
    EXPECT_LT(answer->status, 300) << answer->body;
    return parse_json(answer->body).value_or(Json());
  }

  // Returns a token as a pod on gpu-01 gets it. If `pod` is "", the token is bound to no pod.
  static std::string token_of(const std::string& account, const std::string& pod) {
    Json spec = {{"expirationSeconds", 3600}};
    if (!pod.empty()) {
      Json object = fakes::pod(pod, "gpu-01");
      object["spec"]["serviceAccountName"] = account;
      const Json made = must("POST", std::string(kNs) + "/pods", object);
      spec["boundObjectRef"] = {
          {"kind", "Pod"}, {"apiVersion", "v1"}, {"name", pod}, {"uid", made["metadata"]["uid"]}};
    }
    const Json answer =
        must("POST", std::string(kNs) + "/serviceaccounts/" + account + "/token", {{"spec", spec}});
    return string_at(member_at(answer, "status"), "token");
  }

  static http::ClientResponse patch(const std::string& token, const std::string& path,
                                    const Json& body, const std::string& type = kMerge) {
    return send("PATCH", token, path, body, type);
  }
  static http::ClientResponse event(const std::string& token, const std::string& kind,
                                    const std::string& name) {
    static int number = 0;
    const Json object = {
        {"metadata", {{"name", name + "." + std::to_string(++number)}, {"namespace", "default"}}},
        {"involvedObject", {{"apiVersion", "v1"}, {"kind", kind}, {"name", name}}},
        {"type", "Warning"},
        {"reason", "Xid79"}};
    return send("POST", token, "/api/v1/namespaces/default/events", object, "application/json");
  }
  static http::ClientResponse send(const std::string& method, const std::string& token,
                                   const std::string& path, const Json& body,
                                   const std::string& type) {
    http::ClientTls tls;
    tls.ca_file = plane_->ca_file();
    http::CurlClient client(tls);
    http::ClientRequest request;
    request.method = method;
    request.url = plane_->url() + path;
    request.headers = {{"Authorization", "Bearer " + token}, {"Content-Type", type}};
    request.body = dump_json(body);
    auto answer = client.send(request);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(http::ClientResponse());
  }
  static bool allowed(const std::string& token, const std::string& path, const Json& body,
                      const std::string& type = kMerge) {
    return patch(token, path, body, type).status == 200;
  }
  static void expect_denied(const std::string& token, const std::string& path, const Json& body,
                            const std::string& why, const std::string& type = kMerge) {
    const auto answer = patch(token, path, body, type);
    EXPECT_EQ(answer.status, 403) << dump_json(body) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(why));
  }
  static void expect_taint(const std::string& token, const std::string& key) {
    EXPECT_TRUE(allowed(token, kOwn, taints({kRemediation, kForeign, taint(key, "true")}))) << key;
    EXPECT_TRUE(allowed(token, kOwn, taints({kRemediation, kForeign}))) << key;
  }
  // Expects that the account may set and remove the name, only as the kind that it is.
  static void expect_own(const std::string& token, const NodeNameEntry& entry,
                         const std::string& key) {
    const bool is_label = entry.kind == NodeNameKind::kLabel;
    const bool is_annotation = entry.kind == NodeNameKind::kAnnotation;
    EXPECT_EQ(allowed(token, kOwn, labels(key, "x")), is_label) << key;
    EXPECT_EQ(allowed(token, kOwn, annotations(key, "x")), is_annotation) << key;
    EXPECT_TRUE(allowed(token, kOwn, labels(key, nullptr))) << key;
    EXPECT_TRUE(allowed(token, kOwn, annotations(key, nullptr))) << key;
    if (entry.kind == NodeNameKind::kTaint) expect_taint(token, key);
  }

  static inline support::RightsAudit* audit_ = nullptr;
  static inline support::ControlPlane* plane_ = nullptr;
  static inline std::string agent_, quarantine_, sweeper_, unbound_;
};

TEST_F(AdmissionTest, TheAgentWritesItsOwnLabelsAnnotationsAndTaintsToItsOwnNode) {
  for (const std::string& token : {agent_, quarantine_}) {
    for (const NodeNames& names : kAllNodeNames)
      for (const NodeNameEntry& entry : kNodeNames) expect_own(token, entry, names(entry.name));
    for (const std::string_view key : {kPresetAnnotation, kFindingsAnnotation}) {
      EXPECT_TRUE(allowed(token, kOwn, annotations(std::string(key), "x")));
      EXPECT_TRUE(allowed(token, kOwn, annotations(std::string(key), nullptr)));
    }
    EXPECT_TRUE(allowed(token, kOwn, labels("metricsexporter.amd.com.gpu.3.state", "unhealthy")));
    EXPECT_TRUE(allowed(token, kOwn, labels("metricsexporter.amd.com.gpu.3.state", nullptr)));
    expect_taint(token, "trainy.konduktor.ai/faulty");
    EXPECT_TRUE(allowed(token, kOwnStatus, condition("GPUProblem", "True"), kStrategic));
  }
}

TEST_F(AdmissionTest, TheAgentMayNotTouchAnotherNode) {
  constexpr const char* kWhy = "only the node that its pod runs on";
  expect_denied(agent_, kOther, labels(own("status"), "fail"), kWhy);
  expect_denied(agent_, kOther, taints({kUnhealthy}), kWhy);
  expect_denied(agent_, std::string(kOther) + "/status", condition("GPUProblem", "True"), kWhy,
                kStrategic);
  expect_denied(quarantine_, kOther, labels(own("status"), "fail"), kWhy);
  for (const char* node : {kOwn, kOther})
    EXPECT_EQ(send("DELETE", agent_, node, Json::object(), "application/json").status, 403) << node;
}

TEST_F(AdmissionTest, TheAgentWritesEventsAboutItsOwnNodeAlone) {
  EXPECT_EQ(event(agent_, "Node", "gpu-01").status, 201);
  for (const auto& [kind, name] : {std::pair("Node", "gpu-02"), std::pair("Pod", "gpu-01")}) {
    const auto answer = event(agent_, kind, name);
    EXPECT_EQ(answer.status, 403);
    EXPECT_THAT(answer.body, HasSubstr("Events only about the node that its pod runs on"));
  }
  EXPECT_EQ(event(unbound_, "Node", "gpu-01").status, 403);
  EXPECT_EQ(event(quarantine_, "Node", "gpu-01").status, 403);  // has no right to
}

TEST_F(AdmissionTest, ATokenThatIsBoundToNoNodeMayChangeNone) {
  expect_denied(unbound_, kOwn, labels(own("status"), "fail"),
                "only the node that its pod runs on");
}

TEST_F(AdmissionTest, NobodyCordonsOrUncordons) {
  const Json cordon = {{"spec", {{"unschedulable", true}}}};
  for (const std::string& token : {agent_, quarantine_, sweeper_})
    expect_denied(token, kOwn, cordon, "neither cordon nor uncordon");
  must("PATCH", kOwn, cordon);
  const Json uncordon = {{"spec", {{"unschedulable", nullptr}}}};
  expect_denied(agent_, kOwn, uncordon, "neither cordon nor uncordon");
  EXPECT_TRUE(allowed(agent_, kOwn, labels(own("status"), "pass")));  // despite the cordon
  must("PATCH", kOwn, uncordon);
}

TEST_F(AdmissionTest, NobodyTouchesTaintsThatAreNotItsOwn) {
  constexpr const char* kWhy = "taints that are not its own";
  for (const std::string& token : {agent_, quarantine_, sweeper_}) {
    expect_denied(token, kOwn, taints({kRemediation}), kWhy);  // kForeign is gone
    expect_denied(token, kOwn, taints({kForeign}), kWhy);      // kRemediation is gone
    expect_denied(token, kOwn, taints({}), kWhy);
    expect_denied(token, kOwn, {{"spec", {{"taints", nullptr}}}}, kWhy);
    expect_denied(token, kOwn,
                  taints({taint("gpuward.dev/remediation", "monitor"), kForeign, kUnhealthy}),
                  kWhy);
    expect_denied(token, kOwn, taints({kRemediation, kForeign, taint("new", "1")}), kWhy);
    // A taint with gpuward's key that ends pods is not one of the exporter's.
    expect_denied(
        token, kOwn,
        taints({kRemediation, kForeign, taint("gpuward.dev/unhealthy", "true", "NoExecute")}),
        kWhy);
  }
}

TEST_F(AdmissionTest, NobodyTouchesLabelsAndAnnotationsThatAreNotItsOwn) {
  for (const std::string& token : {agent_, quarantine_, sweeper_}) {
    expect_denied(token, kOwn, labels("pool", "b"), "labels pool");
    expect_denied(token, kOwn, labels("pool", nullptr), "labels pool");
    expect_denied(token, kOwn, labels("node-role.kubernetes.io/control-plane", ""), "labels");
    expect_denied(token, kOwn, labels("gpu-healthcheck.aws-samples.io.evil/status", "x"), "labels");
    // Only whole keys are the exporter's: the remediator and operators have theirs beside them.
    for (const char* key :
         {"gpuward.dev/managed", "gpuward.dev/drill", "gpuward.dev/remediation",
          "gpuward.dev/other", "gpu-healthcheck.aws-samples.io/other", "gpuward.dev/status-x"}) {
      expect_denied(token, kOwn, labels(key, "false"), std::string("labels ") + key);
      expect_denied(token, kOwn, annotations(key, "{}"), std::string("annotations ") + key);
    }
    expect_denied(token, kOwn, labels("metricsexporter.amd.com.nic.3.state", "unhealthy"),
                  "labels");
    expect_denied(token, kOwn, annotations("theirs", nullptr), "annotations theirs");
    expect_denied(token, kOwn, {{"metadata", {{"finalizers", Json::array({"a.b/c"})}}}},
                  "finalizers");
  }
}

TEST_F(AdmissionTest, TheStatusIsNoWayAroundIt) {
  expect_denied(agent_, kOwnStatus, condition("Ready", "False"), "conditions that are not its own",
                kStrategic);
  expect_denied(agent_, kOwnStatus, condition("DrainScheduled", "True"),
                "conditions that are not its own", kStrategic);
  expect_denied(agent_, kOwnStatus, {{"status", {{"conditions", Json::array()}}}},
                "conditions that are not its own");
  expect_denied(agent_, kOwnStatus, {{"status", {{"capacity", {{"nvidia.com/gpu", "9"}}}}}},
                "its own condition alone");
  expect_denied(agent_, kOwnStatus, {{"status", {{"nodeInfo", {{"bootID", "another"}}}}}},
                "its own condition alone");
  expect_denied(agent_, kOwnStatus, labels("pool", "b"), "labels pool");
  // The policy does not name these fields: it refuses each field that Kubernetes adds to Nodes.
  expect_denied(agent_, kOwnStatus, {{"status", {{"declaredFeatures", Json::array({"Any"})}}}},
                "not declaredFeatures");
  expect_denied(agent_, kOwnStatus,
                {{"status", {{"runtimeHandlers", Json::array({{{"name", "a"}}})}}}},
                "not runtimeHandlers");
}

TEST_F(AdmissionTest, TheSweeperMarksAnyNodeAndHasNoStatus) {
  const std::string node = kOther;
  EXPECT_TRUE(allowed(sweeper_, node, taints({taint("gpuward.dev/maintenance", "sweep")})));
  EXPECT_TRUE(allowed(sweeper_, node, taints({})));
  EXPECT_TRUE(allowed(sweeper_, node, annotations(own("sweep-result"), "{}")));
  EXPECT_TRUE(allowed(sweeper_, node, annotations(own("sweep-result"), nullptr)));
  for (const char* agents : {"announcements", "findings", "results", "quarantine-result"})
    expect_denied(sweeper_, node, annotations(own(agents), "[]"), agents);
  expect_denied(sweeper_, node + "/status", condition("GPUProblem", "True"), "cannot patch",
                kStrategic);
}

TEST_F(AdmissionTest, OthersAreNotHeldBack) {
  must("PATCH", kOther, labels("anything", "goes"));
  must("PATCH", kOther, taints({taint("new", "1")}));
  must("PATCH", kOther, taints({}));
}

// The real writer under the real policies: its writes are allowed, and nothing more. Konduktor's
// users look for it with `kubectl describe node NODE | grep trainy`.
TEST_F(AdmissionTest, KubectlDescribesTheTaintOfThePresetKonduktor) {
  const auto described = [] {
    const auto said = plane_->kubectl({"describe", "node", "gpu-01"});
    return said ? said->output : said.error().message;
  };
  SystemClock clock;
  kube::ClusterConfig config;
  config.server = plane_->url();
  config.tls.ca_file = plane_->ca_file();
  config.token = agent_;
  kube::Connection connection(config, "gpuward-exporter", clock);
  const auto api = connection.make_api({});
  NodeWriter writer(*api, clock, "gpu-01", "boot-gpu-01");
  const auto write = [&](const Snapshot& snapshot) {
    return writer.write(wish_of(snapshot), keys_of({.preset = NodePreset::kKonduktor}),
                        std::chrono::minutes(5), {});
  };

  ASSERT_TRUE(write(broken()));
  EXPECT_THAT(described(), HasSubstr("trainy.konduktor.ai/faulty=true:NoSchedule"));

  ASSERT_TRUE(write(healthy()));
  EXPECT_THAT(described(), ::testing::Not(HasSubstr("trainy")));
}

TEST_F(AdmissionTest, EverythingThatTheAgentWritesIsAllowed) {
  SystemClock clock;
  kube::ClusterConfig config;
  config.server = plane_->url();
  config.tls.ca_file = plane_->ca_file();
  config.token = agent_;
  kube::Connection connection(config, "gpuward-exporter", clock);
  const auto api = connection.make_api({});
  NodeWriter writer(*api, clock, "gpu-01", "boot-gpu-01");
  Snapshot broken = healthy();
  add_finding(broken, "79", Severity::kReboot, "0000:13:00");
  broken.gpus.push_back(gpu_at(9, Vendor::kAmd));
  add_finding(broken, "umc", Severity::kIsolate, "0000:19:00");
  report_gpus(broken);
  for (const NodePreset preset :
       {NodePreset::kAwsSamples, NodePreset::kGpuward, NodePreset::kAwsSamples,
        NodePreset::kKonduktor, NodePreset::kAmd, NodePreset::kGpuward}) {
    for (const Snapshot& snapshot : {broken, healthy()}) {
      const auto written =
          writer.write(wish_of(snapshot), keys_of({.preset = preset}), std::chrono::minutes(5), {});
      EXPECT_TRUE(written) << to_string(preset) << ": " << written.error().message;
    }
  }
  EXPECT_TRUE(writer.say_stopped(*api, kGpuwardNames));
  const auto node = api->get_node("gpu-01");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->meta.labels.at(own("status")), "agent-stopped");
  EXPECT_EQ(node->taints.size(), 2U);

  // The watch delivers the labels that a driver upgrade writes.
  Log log(LogLevel::kError, LogFormat::kLogfmt);
  const OwnNode own_node(
      "gpu-01",
      [&](kube::ApiDeadlines deadlines, std::stop_token stop) {
        return connection.make_api(deadlines, std::move(stop));
      },
      clock, log);
  for (const Json& value : {Json("paused-for-driver-upgrade"), Json(nullptr)}) {
    must("PATCH", kOwn, labels("nvidia.com/gpu.deploy.dcgm", value));
    EXPECT_TRUE(support::wait_until(
        [&] { return own_node.asking_label().has_value() == value.is_string(); },
        "the label " + dump_json(value)));
  }

  // The account also needs all of its rights.
  const auto needless = support::needless_verbs(
      *plane_, "/apis/rbac.authorization.k8s.io/v1/clusterroles/gpu-healthcheck-agent",
      audit_->asked());
  ASSERT_TRUE(needless) << needless.error().message;
  EXPECT_THAT(*needless, ::testing::IsEmpty());
}

}  // namespace
}  // namespace gpuward::exporter
