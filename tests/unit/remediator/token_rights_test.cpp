// The writes that the tokens of gpuward's accounts may make, in one table, on a real kube-apiserver
// under the shipped manifests. It has a row for each write that the programs need, made by their
// own code, and for each write that a thief of a token may try. Every row is a dry run, which
// passes all rights and policies and changes nothing. A feature that writes something new adds its
// rows here.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/kube/connection.h"
#include "core/kube/gpu_operator_labels.h"
#include "core/kube/node_patch.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "exporter/commands/sweep_job.h"
#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/quarantine_job_action.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/act/taint_and_cordon.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/gpu_operands.h"
#include "remediator/model/out_of_service.h"
#include "remediator/policy/konduktor_taint.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/control_plane.h"
#include "tests/support/http_get.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/act/actions/intended_step.h"

namespace gpuward::remediator {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNode = "/api/v1/nodes/gpu-01";
constexpr const char* kSilentNode = "/api/v1/nodes/gpu-02";
constexpr const char* kNamespace = "/api/v1/namespaces/gpu-healthcheck";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kOwnLabel = "example.com/gpu-telemetry";
constexpr const char* kImage = "registry.example/gpuward-exporter:1";
constexpr const char* kSweepImage = "gpuward-exporter-diagnostics:" GPUWARD_VERSION;
// The parts that refuse a write.
constexpr const char* kRights = " cannot ";
constexpr const char* kNodes = "'gpuward-remediator-nodes'";
constexpr const char* kJobShapes = "'gpuward-remediator-jobs'";
constexpr const char* kOwnJobs = "'gpuward-remediator-own-jobs'";
constexpr const char* kSweeps = "'gpu-healthcheck-sweep-jobs'";
constexpr const char* kOwnSweeps = "'gpu-healthcheck-sweep-own-jobs'";
constexpr const char* kNothing = "";

struct Write {
  std::string who = {}, what = {}, method = {}, path = {};
  Json body = nullptr;
  std::string type = "application/json";
  std::string refused_by = kNothing;  // the part that refuses; nothing: it is allowed
};

Json labels(const std::string& key, const Json& value) {
  return {{"metadata", {{"labels", {{key, value}}}}}};
}
Json annotations(const std::string& key, const Json& value) {
  return {{"metadata", {{"annotations", {{key, value}}}}}};
}
Json taint(const std::string& key, const std::string& value, const std::string& effect) {
  return {{"key", key}, {"value", value}, {"effect", effect}};
}
Json spec(const std::string& key, const Json& value) { return {{"spec", {{key, value}}}}; }

const Json kForeign = taint("theirs", "1", "NoExecute");

// The steps that are Jobs, each with the container of its template.
const std::map<Step, std::string> kStepsWithJobs = {{Step::kCollectEvidence, "collect-evidence"},
                                                    {Step::kGpuReset, "gpu-reset"},
                                                    {Step::kReboot, "reboot"},
                                                    {Step::kQuarantineJob, "quarantine"},
                                                    {Step::kNcclTest, "nccl-test"},
                                                    {Step::kNcclPairs, "nccl-pairs"}};

class TokenRights : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    auto plane = support::ControlPlane::start();
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    for (const char* file :
         {"crd.yaml", "exporter-rbac.yaml", "exporter-admission.yaml", "exporter-sweep.yaml",
          "remediator-rbac.yaml", "remediator-jobs-rbac.yaml"}) {
      const auto applied = plane_->apply(manifest(file));
      ASSERT_TRUE(applied) << applied.error().message;
    }
    apply_with_own_label();
    must("PATCH", std::string(kNamespace) + "/configmaps/gpuward-job-values",
         {{"data",
           {{"image", kImage},
            {"commands-gpu-reset", "own-reset\n--all\n\nother"},
            {"reboot", "true"}}}});
    make_nodes();
    for (const char* account : {"agent", "quarantine", "sweeper"})
      tokens_[account] = token_of("gpu-healthcheck", std::string("gpu-healthcheck-") + account);
    tokens_["remediator"] = token_of("gpuward", "gpuward-remediator");
    remediation_.name = "gpu-01-ab-1";
    remediation_.uid = "0aa8ee8c-2b0e-4a2c-8f0e-5f0f7a3c5a11";
    remediation_.node = "gpu-01";
    remediation_.severity = Severity::kReset;
    must("POST", kJobs, own_job("theirs"));
    wait_for_policies();
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable()); }

  static std::string manifest(const std::string& file) {
    return GPUWARD_SOURCE_DIR "/manifests/" + file;
  }
  // Applies the manifest as the chart renders it for jobs.pause_labels of the policy.
  static void apply_with_own_label() {
    auto text = read_file(manifest("remediator-admission.yaml"));
    ASSERT_TRUE(text);
    const std::string none = "name: pauseLabels\n      expression: '[]'";
    const auto at = text->find(none);
    ASSERT_NE(at, std::string::npos);
    text->replace(at, none.size(),
                  "name: pauseLabels\n      expression: '[\"" + std::string(kOwnLabel) + "\"]'");
    const auto applied = plane_->apply_text(*text);
    ASSERT_TRUE(applied) << applied.error().message;
  }
  static void make_nodes() {
    for (const char* node : {"gpu-01", "gpu-02"})
      must("POST", "/api/v1/nodes", fakes::ready_node(node));
    must("PATCH", kNode, spec("taints", Json::array({kForeign})));
    must("PATCH", kNode, annotations("theirs", "x"));
    for (const auto& [key, value] :
         {std::pair("pool", "a"), std::pair("nvidia.com/gpu.deploy.dcgm", "true"),
          std::pair("nvidia.com/gpu.deploy.driver", "true"), std::pair(kOwnLabel, "true"),
          std::pair("nvidia.com/gpu.deploy.mig-manager", "paused-for-driver-upgrade"),
          std::pair("nvidia.com/gpu.deploy.dcgm-exporter", "paused-for-gpuward-reset"),
          std::pair("example.com/once", "paused-for-gpuward-reset")})
      must("PATCH", kNode, labels(key, value));
    must("PATCH", kSilentNode, spec("taints", Json::array()));
    const Json silent = {{"type", "Ready"}, {"status", "Unknown"}};
    must("PATCH", std::string(kSilentNode) + "/status",
         {{"status", {{"conditions", Json::array({silent})}}}});
  }
  // Waits for the sweeper's policies too: the last policy to come into force.
  static void wait_for_policies() {
    ASSERT_TRUE(support::wait_until(
        [] {
          Json job = sweep();
          job["spec"]["backoffLimit"] = 1;
          return send({.who = "sweeper", .method = "POST", .path = kJobs, .body = job}).status ==
                     403 &&
                 send(
                     {.who = "sweeper", .method = "DELETE", .path = std::string(kJobs) + "/theirs"})
                         .status == 403 &&
                 send({.who = "remediator", .method = "POST", .path = kJobs, .body = job}).status ==
                     403 &&
                 send({.who = "remediator",
                       .method = "DELETE",
                       .path = std::string(kJobs) + "/theirs"})
                         .status == 403 &&
                 send({.who = "remediator",
                       .method = "PATCH",
                       .path = kNode,
                       .body = labels("pool", "b"),
                       .type = kMerge})
                         .status == 403 &&
                 send({.who = "remediator",
                       .method = "POST",
                       .path = kJobs,
                       .body = step_job(Step::kGpuReset)})
                         .status == 201;
        },
        "policies in force"))
        << send({.who = "remediator",
                 .method = "POST",
                 .path = kJobs,
                 .body = step_job(Step::kGpuReset)})
               .body;
  }
  static Json must(const std::string& method, const std::string& path, const Json& body) {
    const auto answer = plane_->request(method, path, dump_json(body));
    EXPECT_TRUE(answer) << answer.error().message;
    if (!answer) return nullptr;
    EXPECT_LT(answer->status, 300) << answer->body;
    return parse_json(answer->body).value_or(Json());
  }
  // Returns a token as a pod on gpu-01 gets it.
  static std::string token_of(const std::string& ns, const std::string& account) {
    const std::string place = "/api/v1/namespaces/" + ns;
    Json pod = fakes::pod(account, "gpu-01");
    pod["spec"]["serviceAccountName"] = account;
    if (ns == "gpuward") {  // the namespace allows restricted pods alone
      pod["spec"]["securityContext"] = {{"runAsNonRoot", true},
                                        {"runAsUser", 65532},
                                        {"seccompProfile", {{"type", "RuntimeDefault"}}}};
      pod["spec"]["containers"][0]["securityContext"] = {
          {"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", Json::array({"ALL"})}}}};
    }
    const Json made = must("POST", place + "/pods", pod);
    const Json bound = {
        {"kind", "Pod"}, {"apiVersion", "v1"}, {"name", account}, {"uid", made["metadata"]["uid"]}};
    const Json asked = {{"spec", {{"expirationSeconds", 3600}, {"boundObjectRef", bound}}}};
    const Json answer = must("POST", place + "/serviceaccounts/" + account + "/token", asked);
    return string_at(member_at(answer, "status"), "token");
  }
  static http::ClientResponse send(const Write& write) {
    http::ClientRequest request;
    request.method = write.method;
    request.url = plane_->url() + write.path + "?dryRun=All";
    request.headers = {{"Authorization", "Bearer " + tokens_[write.who]},
                       {"Content-Type", write.type}};
    if (!write.body.is_null()) request.body = dump_json(write.body);
    request.timeout = support::kGenerousRequest;
    http::ClientTls tls;
    tls.ca_pem = plane_->ca_pem();
    return support::http_send(std::move(request), std::move(tls));
  }
  static void expect(const std::vector<Write>& table) {
    for (const Write& write : table) {
      const auto answer = send(write);
      const std::string row = write.who + ": " + write.what + "\n" + answer.body;
      if (write.refused_by == kNothing) {
        EXPECT_THAT(answer.status, AnyOf(200, 201)) << row;
        continue;
      }
      EXPECT_EQ(answer.status, 403) << row;
      EXPECT_THAT(answer.body, HasSubstr(write.refused_by)) << row;
    }
  }

  // ---- Writes of the programs

  static StepRequest request_of(const kube::Node& node, const PlannedStep& step) {
    return {.remediation = remediation_,
            .node = node,
            .step = step,
            .facts = {{kJobNamespaceFact, "gpu-healthcheck"},
                      {kJobBootFact, "5b8ab4b8-1c5c-4b51-9d0c-0e1a1a4d7c11"}},
            .permit = [] { return Status(); },
            .now = WallTime()};
  }
  static Json step_job(Step step, const JobsPolicy& policy = jobs_policy(),
                       const std::vector<std::string>& command = {},
                       const char* resource = "nvidia.com/gpu") {
    kube::Node node;
    node.meta.name = "gpu-01";
    node.resources = {resource};
    PlannedStep planned_step = planned(step);
    planned_step.job.command = command;
    JobPart part;
    if (step == Step::kNcclPairs) {
      part = {.id = "0123456789",
              .values = {{"$(RANK)", "0"},
                         {"$(ADDRESS)", "10.0.0.1"},
                         {"$(PORT)", std::to_string(policy.pair_port)},
                         {"$(TOKEN)", "0123456789abcdef"}},
              .timeout = std::chrono::minutes(12)};
    }
    const auto job = render_job(request_of(node, planned_step), policy, "gpu-healthcheck", part);
    EXPECT_TRUE(job) << job.error().message;
    return parse_json(job.value_or("{}")).value_or(Json());
  }
  static JobsPolicy jobs_policy() {
    JobsPolicy policy;
    policy.image = kImage;
    return policy;
  }
  static Json sweep() {
    exporter::SweepJobOptions options;
    options.image = kSweepImage;
    const auto job = exporter::sweep_job(options, "gpu-01", "sweep 1", kGpuwardNames);
    EXPECT_TRUE(job) << job.error().message;
    return parse_json(job.value_or("{}")).value_or(Json());
  }
  // A Job of another program, without a template.
  static Json own_job(const std::string& name) {
    Json pod = fakes::pod("x", "")["spec"];
    pod["restartPolicy"] = "Never";
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", {{"name", name}}},
            {"spec", {{"template", {{"spec", pod}}}}}};
  }
  static kube::Node node_at(const std::string& name) {
    auto config = kube::find_cluster(plane_->kubeconfig().string(), "");
    EXPECT_TRUE(config) << config.error().message;
    SystemClock clock;
    kube::Connection connection(std::move(*config), "test", clock);
    const auto node = connection.make_api({})->get_node(name);
    EXPECT_TRUE(node) << node.error().message;
    return node.value_or(kube::Node());
  }
  static Write change(const std::string& what, const kube::Node& seen,
                      const kube::NodeChange& change) {
    const std::string patch = kube::node_patch(seen, change);
    EXPECT_NE(patch, "") << what;
    return {.who = "remediator",
            .what = what,
            .method = "PATCH",
            .path = "/api/v1/nodes/" + seen.meta.name,
            .body = parse_json(patch).value_or(Json()),
            .type = kMerge};
  }
  static Write patch(const std::string& who, const std::string& what, const std::string& path,
                     const Json& body, const std::string& refused_by,
                     const std::string& type = kMerge) {
    return {who, what, "PATCH", path, body, type, refused_by};
  }
  static Write create(const std::string& who, const std::string& what, const std::string& path,
                      const Json& body, const std::string& refused_by = kNothing) {
    return {who, what, "POST", path, body, "application/json", refused_by};
  }

  static inline std::unique_ptr<support::ControlPlane> plane_;
  static inline std::map<std::string, std::string> tokens_;
  static inline Remediation remediation_;
};

// ---- Nodes

TEST_F(TokenRights, LetTheRemediatorWriteWhatItNeedsOnNodes) {
  std::vector<Write> table;
  const kube::Node node = node_at("gpu-01");
  const auto plan = [&](std::vector<Step> steps) {
    return PlanRequest{.remediation = remediation_,
                       .steps = std::move(steps),
                       .why = "xid 79",
                       .now = WallTime(),
                       .konduktor_taint = true};
  };
  const auto quarantined = plan_quarantine(plan({Step::kTaint, Step::kCordon}), node);
  ASSERT_TRUE(quarantined);
  expect({change("taints and cordons", node, quarantined->change)});

  Json marked = Json::array({kForeign});
  for (const kube::Taint& one : quarantined->change.set_taints)
    marked.push_back(taint(one.key, one.value, one.effect));
  Json mark = spec("taints", marked);
  mark["spec"]["unschedulable"] = true;
  for (const auto& [key, value] : quarantined->change.set_annotations)
    mark["metadata"]["annotations"][key] = value;
  must("PATCH", kNode, mark);
  const kube::Node tainted = node_at("gpu-01");
  const auto released = plan_release(plan({}), tainted);
  ASSERT_TRUE(released);
  table.push_back(change("gives the node back", tainted, released->change));
  kube::NodeChange uncordon, out_of_service, pause, pause_own, resume;
  uncordon.unschedulable = false;
  table.push_back(change("uncordons", tainted, uncordon));
  out_of_service.set_taints.push_back(out_of_service_taint());
  table.push_back(change("takes a silent node out of service", node_at("gpu-02"), out_of_service));
  pause.set_labels[operand_label("dcgm")] = kube::kPausedForReset;
  table.push_back(change("pauses an operand", tainted, pause));
  pause_own.set_labels[operand_label(kOwnLabel)] = kube::kPausedForReset;
  table.push_back(change("pauses an operand of the owner", tainted, pause_own));
  Operands paused = paused_operands(tainted);
  EXPECT_EQ(paused.size(), 2U);
  for (const std::string& operand : paused) resume.set_labels[operand_label(operand)] = "true";
  table.push_back(change("resumes what it has paused", tainted, resume));
  expect(table);
}

// The remediator may pause each operand that the program pauses, and no other of the operator.
TEST_F(TokenRights, PauseTheOperandsThatTheProgramPausesAndNoOther) {
  kube::Node node;
  const std::vector<std::string> known = {"client",
                                          "container-toolkit",
                                          "dcgm",
                                          "dcgm-exporter",
                                          "dcgm-exporter-dra",
                                          "dcgm-dra",
                                          "device-plugin",
                                          "dra-driver",
                                          "dra-validator",
                                          "driver",
                                          "gpu-feature-discovery",
                                          "mig-manager",
                                          "node-status-exporter",
                                          "operator-validator"};
  for (const std::string& name : known) node.meta.labels[operand_label(name)] = "true";
  const Operands pausable = running_operands(node, {});
  EXPECT_EQ(pausable.size(), 8U);
  for (const std::string& name : known) {
    const std::string label = operand_label(name);
    must("PATCH", kSilentNode, labels(label, "true"));
    const bool is_pausable = std::ranges::find(pausable, name) != pausable.end();
    expect({patch("remediator", "pauses " + name, kSilentNode, labels(label, kube::kPausedForReset),
                  is_pausable ? kNothing : kNodes)});
  }
}

TEST_F(TokenRights, RefuseTheRemediatorEveryOtherWriteOnNodes) {
  const std::string status = std::string(kNode) + "/status";
  const auto taints = [](std::vector<Json> list) {
    list.insert(list.begin(), kForeign);
    return spec("taints", list);
  };
  must("PATCH", kNode, spec("taints", Json::array({kForeign})));
  const std::string me = "remediator";
  std::vector<Write> table = {
      patch(me, "a label of others", kNode, labels("pool", "b"), kNodes),
      patch(me, "a label of others away", kNode, labels("pool", nullptr), kNodes),
      patch(me, "a role", kNode, labels("node-role.kubernetes.io/control-plane", ""), kNodes),
      patch(me, "a label of the exporter", kNode, labels("gpuward.dev/status", "pass"), kNodes),
      patch(me, "a drill", kNode, labels("gpuward.dev/drill", "true"), kNodes),
      patch(me, "pauses another operand", kNode,
            labels("nvidia.com/gpu.deploy.driver", kube::kPausedForReset), kNodes),
      patch(me, "an operand to another value", kNode, labels("nvidia.com/gpu.deploy.dcgm", "false"),
            kNodes),
      patch(me, "an operand away", kNode, labels("nvidia.com/gpu.deploy.dcgm", nullptr), kNodes),
      patch(me, "resumes what another program has paused", kNode,
            labels("nvidia.com/gpu.deploy.mig-manager", "true"), kNodes),
      patch(me, "pauses what does not run", kNode,
            labels("nvidia.com/gpu.deploy.dcgm-dra", kube::kPausedForReset), kNodes),
      patch(me, "pauses a label of others", kNode, labels("pool", kube::kPausedForReset), kNodes),
      patch(me, "a paused operand to another value", kNode,
            labels("nvidia.com/gpu.deploy.dcgm-exporter", "false"), kNodes),
      patch(me, "an annotation of others", kNode, annotations("theirs", "y"), kNodes),
      patch(me, "an annotation of others away", kNode, annotations("theirs", nullptr), kNodes),
      patch(me, "results of the exporter", kNode, annotations("gpuward.dev/results", "{}"), kNodes),
      patch(me, "a finalizer", kNode, {{"metadata", {{"finalizers", Json::array({"a.b/c"})}}}},
            kNodes),
      patch(
          me, "an owner", kNode,
          {{"metadata",
            {{"ownerReferences",
              Json::array(
                  {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "x"}, {"uid", "u"}}})}}}},
          kNodes),
      patch(me, "takes a taint of others away", kNode, spec("taints", Json::array()), kNodes),
      patch(me, "takes all taints away", kNode, spec("taints", nullptr), kNodes),
      patch(me, "a taint of its own", kNode, taints({taint("any", "1", "NoSchedule")}), kNodes),
      patch(me, "its taint with another effect", kNode,
            taints({taint("gpuward.dev/remediation", "reset", "NoExecute")}), kNodes),
      patch(me, "konduktor's with another effect", kNode,
            taints({taint("trainy.konduktor.ai/faulty", "true", "NoExecute")}), kNodes),
      patch(me, "the exporter's taint", kNode,
            taints({taint("gpuward.dev/unhealthy", "true", "NoSchedule")}), kNodes),
      patch(me, "out of service in another's name", kSilentNode,
            spec("taints", Json::array({taint("node.kubernetes.io/out-of-service", "nodeshutdown",
                                              "NoExecute")})),
            kNodes),
      patch(me, "a node that is ready out of service", kNode,
            taints({taint("node.kubernetes.io/out-of-service", "gpuward", "NoExecute")}), kNodes),
      patch(me, "a range of addresses", kNode,
            {{"spec", {{"podCIDR", "10.9.0.0/24"}, {"podCIDRs", Json::array({"10.9.0.0/24"})}}}},
            kNodes),
      patch(me, "the same by a JSON patch", kNode,
            Json::array({{{"op", "replace"}, {"path", "/metadata/labels/pool"}, {"value", "b"}}}),
            kNodes, kJsonPatch),
      patch(me, "all labels by a strategic patch", kNode,
            {{"metadata", {{"labels", {{"$patch", "replace"}, {"pool", "a"}}}}}}, kNodes,
            kStrategic),
      patch(me, "a label beside what it may", kNode,
            {{"metadata", {{"labels", {{"pool", "b"}}}}}, {"spec", {{"unschedulable", true}}}},
            kNodes),
      patch(me, "the status", status, {{"status", {{"phase", "Running"}}}}, kRights),
      patch(me, "a label by the status", status, labels("pool", "b"), kRights),
      {me, "replaces a node", "PUT", kNode, fakes::ready_node("gpu-01"), "application/json",
       kRights},
      {me, "deletes a node", "DELETE", kNode, nullptr, "application/json", kRights},
      create(me, "a node", "/api/v1/nodes", fakes::ready_node("gpu-03"), kRights),
      create(me, "the kubelet's API", std::string(kNode) + "/proxy/run/a/b/c", Json::object(),
             kRights)};
  expect(table);
}

// ---- Jobs

TEST_F(TokenRights, LetTheRemediatorCreateTheJobsOfItsTemplates) {
  std::size_t templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(GPUWARD_SOURCE_DIR "/manifests"))
    templates += entry.path().filename().string().starts_with("remediator-job-") ? 1U : 0U;
  EXPECT_EQ(templates, kStepsWithJobs.size()) << "each template has a row";

  std::vector<Write> table;
  for (const auto& [step, container] : kStepsWithJobs) {
    const Json job = step_job(step);
    EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["name"], container);
    table.push_back(create("remediator", "the Job of " + container, kJobs, job));
  }
  table.push_back(create("remediator", "a reset of AMD GPUs", kJobs,
                         step_job(Step::kGpuReset, jobs_policy(), {}, "amd.com/gpu")));
  table.push_back(create("remediator", "a command of the policy", kJobs,
                         step_job(Step::kGpuReset, jobs_policy(), {"own-reset", "--all"})));
  table.push_back(create("remediator", "another command of the policy", kJobs,
                         step_job(Step::kGpuReset, jobs_policy(), {"other"})));
  expect(table);
}

// A thief of the token takes a Job of the program and changes it.
TEST_F(TokenRights, RefuseTheRemediatorEveryOtherJob) {
  const std::string pod = "/spec/template/spec";
  const std::string container = pod + "/containers/0";
  const Json own_volume = {{"name", "root"}, {"hostPath", {{"path", "/"}}}};
  const Json token_volume = {
      {"name", "token"},
      {"projected", {{"sources", Json::array({{{"serviceAccountToken", {{"path", "t"}}}}})}}}};
  const Json secret_volume = {{"name", "secret"}, {"secret", {{"secretName", "x"}}}};
  const Json ephemeral = {{"name", "e"},
                          {"ephemeral",
                           {{"volumeClaimTemplate",
                             {{"spec",
                               {{"accessModes", Json::array({"ReadWriteOnce"})},
                                {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}}}}}};
  const Json hook = {{"exec", {{"command", Json::array({"sh"})}}}};
  const Json second = {{"name", "second"}, {"image", kImage}};
  const Json affinity = {
      {"nodeAffinity",
       {{"requiredDuringSchedulingIgnoredDuringExecution",
         {{"nodeSelectorTerms",
           Json::array({{{"matchExpressions",
                          Json::array({{{"key", "a"}, {"operator", "Exists"}}})}}})}}}}}};
  const Json owner = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "x"}, {"uid", "u"}};
  struct Change {
    std::string what, op, path;
    Json value;
  };
  const std::vector<Change> changes = {
      {"another image", "replace", container + "/image", "evil:1"},
      {"an image of no name", "replace", container + "/image", " "},
      {"another command", "replace", container + "/command", Json::array({"sh", "-c", "id"})},
      {"a word more", "add", container + "/command/-", "--x=1"},
      {"arguments", "add", container + "/args", Json::array({"x"})},
      {"a variable", "add", container + "/env",
       Json::array({{{"name", "LD_PRELOAD"}, {"value", "/x"}}})},
      {"variables of a secret", "add", container + "/envFrom",
       Json::array({{{"secretRef", {{"name", "x"}}}}})},
      {"a folder to work in", "add", container + "/workingDir", "/dev"},
      {"a hook after the start", "add", container + "/lifecycle", {{"postStart", hook}}},
      {"a hook before the stop", "add", container + "/lifecycle", {{"preStop", hook}}},
      {"a probe that runs a program", "add", container + "/livenessProbe", hook},
      {"a probe of the start", "add", container + "/startupProbe", hook},
      {"more of the security context", "add", container + "/securityContext/readOnlyRootFilesystem",
       true},
      {"another mount",
       "add",
       container + "/volumeMounts/-",
       {{"name", "dev"}, {"mountPath", "/etc"}}},
      {"the words of the node's own log", "replace", container + "/terminationMessagePath",
       "/dev/x"},
      {"a terminal", "add", container + "/tty", true},
      {"a port", "add", container + "/ports",
       Json::array({{{"containerPort", 22}, {"hostPort", 22}}})},
      {"devices", "add", container + "/resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}},
      {"never pulls", "add", container + "/imagePullPolicy", "Never"},
      {"a restart policy of the container", "add", container + "/restartPolicy", "Never"},
      {"another container", "add", pod + "/containers/-", second},
      {"another name of the container", "replace", container + "/name", "mine"},
      {"a container before it", "add", pod + "/initContainers", Json::array({second})},
      {"the host's root", "add", pod + "/volumes/-", own_volume},
      {"another path", "replace", pod + "/volumes/0/hostPath/path", "/"},
      {"another kind of path", "add", pod + "/volumes/0/hostPath/type", "Socket"},
      {"a token", "add", pod + "/volumes/-", token_volume},
      {"a secret", "add", pod + "/volumes/-", secret_volume},
      {"a volume for the time of the pod", "add", pod + "/volumes/-", ephemeral},
      {"another account", "add", pod + "/serviceAccountName", "gpu-healthcheck-sweeper"},
      {"another account under the old name", "add", pod + "/serviceAccount",
       "gpu-healthcheck-agent"},
      {"the account's token", "replace", pod + "/automountServiceAccountToken", true},
      {"secrets for images", "add", pod + "/imagePullSecrets", Json::array({{{"name", "x"}}})},
      {"the host's network", "add", pod + "/hostNetwork", true},
      {"the host's IPC", "add", pod + "/hostIPC", true},
      {"users of its own", "add", pod + "/hostUsers", true},
      {"processes of all containers", "add", pod + "/shareProcessNamespace", false},
      {"another scheduler", "add", pod + "/schedulerName", "mine"},
      {"another runtime", "add", pod + "/runtimeClassName", "mine"},
      {"overhead", "add", pod + "/overhead", {{"cpu", "1"}}},
      {"a priority", "add", pod + "/priorityClassName", "system-node-critical"},
      {"names of hosts", "add", pod + "/hostAliases",
       Json::array({{{"ip", "10.0.0.1"}, {"hostnames", Json::array({"registry.example"})}}})},
      {"a name server", "add", pod + "/dnsConfig", {{"nameservers", Json::array({"10.0.0.1"})}}},
      {"a sysctl",
       "add",
       pod + "/securityContext",
       {{"sysctls", Json::array({{{"name", "kernel.core_pattern"}, {"value", "|/x"}}})}}},
      {"a group of files", "add", pod + "/securityContext", {{"fsGroup", 0}}},
      {"links to services", "add", pod + "/enableServiceLinks", false},
      {"a claim of devices", "add", pod + "/resourceClaims",
       Json::array({{{"name", "x"}, {"resourceClaimName", "x"}}})},
      {"a gate of the scheduler", "add", pod + "/schedulingGates",
       Json::array({{{"name", "a.b/c"}}})},
      {"an end of the pod's own", "add", pod + "/activeDeadlineSeconds", 5},
      {"no node", "remove", pod + "/nodeName", nullptr},
      {"nodes by label", "add", pod + "/nodeSelector", {{"pool", "a"}}},
      {"nodes by affinity", "add", pod + "/affinity", affinity},
      {"runs again", "replace", "/spec/backoffLimit", 6},
      {"several pods", "replace", "/spec/parallelism", 5},
      {"several ends", "replace", "/spec/completions", 5},
      {"no time limit", "remove", "/spec/activeDeadlineSeconds", nullptr},
      {"another time limit than its command", "replace", "/spec/activeDeadlineSeconds", 1},
      {"stays for good", "remove", "/spec/ttlSecondsAfterFinished", nullptr},
      {"waits", "add", "/spec/suspend", true},
      {"another controller", "add", "/spec/managedBy", "a.b/c"},
      {"replaces pods at once", "add", "/spec/podReplacementPolicy", "Failed"},
      {"a policy of failures",
       "add",
       "/spec/podFailurePolicy",
       {{"rules", Json::array({{{"action", "Ignore"},
                                {"onPodConditions", Json::array({{{"type", "DisruptionTarget"},
                                                                  {"status", "True"}}})}}})}}},
      {"pods of others by a selector", "add", "/spec/manualSelector", true},
      {"a label", "add", "/metadata/labels/any", "1"},
      {"a label of the pod", "add", "/spec/template/metadata/labels/any", "1"},
      {"another label of the template", "replace",
       "/spec/template/metadata/labels/app.kubernetes.io~1name", "gpuward-remediator"},
      {"an annotation", "add", "/metadata/annotations/any", "1"},
      {"an annotation of the pod",
       "add",
       "/spec/template/metadata/annotations",
       {{"sidecar.istio.io/inject", "true"}}},
      {"a finalizer of the pod", "add", "/spec/template/metadata/finalizers",
       Json::array({"a.b/c"})},
      {"a finalizer", "add", "/metadata/finalizers", Json::array({"a.b/c"})},
      {"another name", "replace", "/metadata/name", "kube-proxy"},
      {"no owner", "remove", "/metadata/ownerReferences", nullptr},
      {"another owner", "replace", "/metadata/ownerReferences/0", owner},
      {"two owners", "add", "/metadata/ownerReferences/-", owner},
      {"the Remediation of another name", "replace",
       "/metadata/annotations/gpuward.dev~1remediation", "../other"},
  };
  std::vector<Write> table;
  for (const Change& change : changes) {
    Json step = {{"op", change.op}, {"path", change.path}};
    if (change.op != "remove") step["value"] = change.value;
    Json job = step_job(Step::kGpuReset).patch(Json::array({step}));
    if (change.what == "pods of others by a selector")
      job["spec"]["selector"] = {{"matchLabels", job["spec"]["template"]["metadata"]["labels"]}};
    table.push_back(create("remediator", change.what, kJobs, job, kJobShapes));
  }
  const auto with = [&](const std::function<void(JobsPolicy&)>& set) {
    JobsPolicy policy = jobs_policy();
    set(policy);
    return policy;
  };
  Json generated = step_job(Step::kGpuReset);
  generated["metadata"].erase("name");
  generated["metadata"]["generateName"] = "gpuward-";
  Json regrouped = step_job(Step::kGpuReset, jobs_policy(), {"own-reset --all"});
  Json with_arguments = step_job(Step::kGpuReset, jobs_policy(), {"other"});
  with_arguments["spec"]["template"]["spec"]["containers"][0]["args"] = {"x"};
  Json unnamed = step_job(Step::kGpuReset, jobs_policy(), {"sh"});
  unnamed["metadata"]["labels"]["gpuward.dev/step"] = "";
  Json twice = step_job(Step::kNcclPairs);
  twice["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"] = "a b";
  Json elsewhere = step_job(Step::kCollectEvidence);
  elsewhere["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"] = "gpu-02";
  for (const auto& [what, job] : std::vector<std::pair<std::string, Json>>{
           {"the command of another step", step_job(Step::kNcclTest, jobs_policy(), {"other"})},
           {"evidence to an address of his own",
            step_job(Step::kCollectEvidence,
                     with([](JobsPolicy& p) { p.evidence.upload = "https://evil.example/"; }))},
           {"evidence under another account",
            step_job(Step::kCollectEvidence, with([](JobsPolicy& p) {
                       p.evidence.service_account = "gpu-healthcheck-agent";
                     }))},
           {"evidence of another node", elsewhere},
           {"a quarantine under another account",
            step_job(Step::kQuarantineJob,
                     with([](JobsPolicy& p) { p.service_account = "default"; }))},
           {"other units to pause",
            step_job(Step::kGpuReset, with([](JobsPolicy& p) { p.pause_units = {"sshd"}; }))},
           {"another port",
            step_job(Step::kNcclPairs, with([](JobsPolicy& p) { p.pair_port = 1; }))},
           {"a token of another form", twice},
           {"a command that the policy does not name",
            step_job(Step::kGpuReset, jobs_policy(), {"sh"})},
           {"a command in other words", regrouped},
           {"an empty name of the step", unnamed},
           {"a command with arguments", with_arguments},
           {"a name of the API server's choice", generated},
           {"the Job of a sweep", sweep()},
           {"any other Job", own_job("gpuward-x")}})
    table.push_back(create("remediator", what, kJobs, job, kJobShapes));
  expect(table);
}

TEST_F(TokenRights, LetTheSweeperCreateTheJobOfASweepAndNoOther) {
  const std::string pod = "/spec/template/spec";
  const std::string container = pod + "/containers/0";
  struct Change {
    std::string what, op, path;
    Json value;
  };
  std::vector<Write> table = {create("sweeper", "a sweep", kJobs, sweep())};
  for (const Change& change : std::vector<Change>{
           {"another image", "replace", container + "/image", kImage},
           {"a command", "add", container + "/command", Json::array({"sh"})},
           {"other arguments", "replace", container + "/args/2", "6"},
           {"a variable", "add", container + "/env",
            Json::array({{{"name", "A"}, {"value", "b"}}})},
           {"a mount",
            "add",
            container + "/volumeMounts/-",
            {{"name", "dev"}, {"mountPath", "/x"}}},
           {"a volume", "add", pod + "/volumes/-", {{"name", "r"}, {"hostPath", {{"path", "/"}}}}},
           {"an account", "add", pod + "/serviceAccountName", "gpu-healthcheck-agent"},
           {"the token", "replace", pod + "/automountServiceAccountToken", true},
           {"a container before it", "add", pod + "/initContainers",
            Json::array({{{"name", "a"}, {"image", kSweepImage}}})},
           {"a node by name", "add", pod + "/nodeName", "gpu-01"},
           {"no affinity", "remove", pod + "/affinity", nullptr},
           {"a toleration", "add", pod + "/tolerations/-", {{"operator", "Exists"}}},
           {"tries", "replace", "/spec/backoffLimit", 3},
           {"no time limit", "remove", "/spec/activeDeadlineSeconds", nullptr},
           {"a label", "add", "/metadata/labels/any", "1"},
           {"an annotation", "add", "/metadata/annotations", {{"any", "1"}}},
           {"an annotation of the pod",
            "add",
            "/spec/template/metadata/annotations",
            {{"any", "1"}}},
           {"a finalizer", "add", "/metadata/finalizers", Json::array({"a.b/c"})},
           {"an owner", "add", "/metadata/ownerReferences",
            Json::array(
                {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "x"}, {"uid", "u"}}})},
           {"another name", "replace", "/metadata/name", "x"}}) {
    Json step = {{"op", change.op}, {"path", change.path}};
    if (change.op != "remove") step["value"] = change.value;
    table.push_back(
        create("sweeper", change.what, kJobs, sweep().patch(Json::array({step})), kSweeps));
  }
  table.push_back(
      create("sweeper", "a Job of the remediator", kJobs, step_job(Step::kGpuReset), kSweeps));
  table.push_back(create("sweeper", "any other Job", kJobs, own_job("gpu-sweep-x"), kSweeps));
  expect(table);
}

TEST_F(TokenRights, LetNoAccountChangeOrDeleteJobsOfOthers) {
  Json reset = step_job(Step::kGpuReset);
  Json swept = sweep();
  must("POST", kJobs, reset);
  must("POST", kJobs, swept);
  const auto path = [](const Json& job) {
    return std::string(kJobs) + "/" + std::string(job["metadata"]["name"]);
  };
  const auto remove = [&](const std::string& who, const std::string& what, const std::string& job,
                          const std::string& refused_by) {
    return Write{who, what, "DELETE", job, nullptr, "application/json", refused_by};
  };
  const std::string theirs = std::string(kJobs) + "/theirs";
  expect({remove("remediator", "its Job", path(reset), kNothing),
          remove("remediator", "the sweeper's", path(swept), kOwnJobs),
          remove("remediator", "a Job of others", theirs, kOwnJobs),
          remove("remediator", "all Jobs", kJobs, kRights),
          remove("sweeper", "its Job", path(swept), kNothing),
          remove("sweeper", "the remediator's", path(reset), kOwnSweeps),
          remove("sweeper", "a Job of others", theirs, kOwnSweeps),
          remove("agent", "a Job", theirs, kRights),
          patch("remediator", "its Job", path(reset), {{"spec", {{"suspend", true}}}}, kRights),
          patch("remediator", "the status of its Job", path(reset) + "/status", Json::object(),
                kRights),
          patch("sweeper", "its Job", path(swept), {{"spec", {{"suspend", true}}}}, kRights)});
}

// The right to change Jobs, as restart-job has it, does not cover gpuward's own Jobs.
TEST_F(TokenRights, RefuseTheRemediatorToChangeAJobOfTheNamespaceWhateverItsRightsAre) {
  const auto applied = plane_->apply(manifest("remediator-restart-job-rbac.yaml"));
  ASSERT_TRUE(applied) << applied.error().message;
  const auto bound = plane_->kubectl({"create", "clusterrolebinding", "restart-job",
                                      "--clusterrole=gpuward-remediator-restart-job",
                                      "--serviceaccount=gpuward:gpuward-remediator"});
  ASSERT_TRUE(bound && bound->exit_code == 0);
  const Write suspends = patch("remediator", "suspends a Job", std::string(kJobs) + "/theirs",
                               {{"spec", {{"suspend", true}}}}, kOwnJobs);
  ASSERT_TRUE(support::wait_until([&] { return !send(suspends).body.contains(kRights); },
                                  "the right to patch Jobs"));
  expect({suspends});
  EXPECT_TRUE(plane_->kubectl({"delete", "clusterrolebinding", "restart-job"}));
}

// ---- Writes that no account of gpuward may make

TEST_F(TokenRights, RefuseEveryOtherWayToRootOrToOthersRights) {
  std::vector<Write> table;
  const Json pod = fakes::pod("mine", "gpu-01");
  const Json role = {
      {"metadata", {{"name", "mine"}}},
      {"rules", Json::array({{{"apiGroups", {""}}, {"resources", {"*"}}, {"verbs", {"*"}}}})}};
  const Json binding = {{"metadata", {{"name", "mine"}}},
                        {"roleRef",
                         {{"apiGroup", "rbac.authorization.k8s.io"},
                          {"kind", "ClusterRole"},
                          {"name", "cluster-admin"}}}};
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const std::string policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicy";
  for (const std::string who : {"remediator", "sweeper", "agent", "quarantine"}) {
    const std::string agent = std::string(kNamespace) + "/pods/gpu-healthcheck-agent";
    for (const Write& write :
         {create(who, "a pod", std::string(kNamespace) + "/pods", pod, kRights),
          create(who, "a pod on a node", agent + "/binding",
                 {{"target", {{"kind", "Node"}, {"name", "gpu-02"}}}}, kRights),
          create(who, "a program in a pod", agent + "/exec", Json::object(), kRights),
          patch(who, "another image", agent, {{"spec", {{"activeDeadlineSeconds", 5}}}}, kRights),
          patch(who, "a container beside it", agent + "/ephemeralcontainers", Json::object(),
                kRights),
          patch(who, "the status of a pod", agent + "/status", Json::object(), kRights),
          create(who, "a CronJob", "/apis/batch/v1/namespaces/gpu-healthcheck/cronjobs",
                 Json::object(), kRights),
          create(who, "a DaemonSet", "/apis/apps/v1/namespaces/gpu-healthcheck/daemonsets",
                 Json::object(), kRights),
          create(who, "a Job in another namespace", "/apis/batch/v1/namespaces/default/jobs",
                 own_job("gpuward-x"), kRights),
          create(who, "a token",
                 std::string(kNamespace) + "/serviceaccounts/gpu-healthcheck-sweeper/token",
                 {{"spec", Json::object()}}, kRights),
          create(who, "a secret", std::string(kNamespace) + "/secrets", Json::object(), kRights),
          create(who, "values of the policy", std::string(kNamespace) + "/configmaps",
                 {{"metadata", {{"name", "gpuward-job-values"}}}}, kRights),
          patch(who, "the values of the policy",
                std::string(kNamespace) + "/configmaps/gpuward-job-values",
                {{"data", {{"image", "evil:1"}}}}, kRights),
          patch(who, "the namespace", kNamespace,
                labels("pod-security.kubernetes.io/enforce", "privileged"), kRights),
          create(who, "a role", rbac, role, kRights),
          create(who, "a right", rbac.substr(0, rbac.size() - 1) + "bindings", binding, kRights),
          patch(who, "a policy",
                policies.substr(0, policies.size() - 1) + "ies/gpuward-remediator-jobs",
                {{"spec", {{"failurePolicy", "Ignore"}}}}, kRights)})
      table.push_back(write);
    table.push_back({who, "deletes a policy", "DELETE",
                     policies + "bindings/gpuward-remediator-jobs", nullptr, "application/json",
                     kRights});
  }
  expect(table);
}

// An upgrade may have changed the image in the policy file before that of the admission policy, or
// the reverse.
TEST_F(TokenRights, LetAStepWaitWhileProgramAndPolicyDoNotGoTogether) {
  auto config = kube::find_cluster(plane_->kubeconfig_for(tokens_["remediator"]).string(), "");
  ASSERT_TRUE(config) << config.error().message;
  SystemClock clock;
  kube::Connection connection(std::move(*config), "test", clock);
  const auto api = connection.make_api({});
  Policy newer;
  newer.jobs.image = "registry.example/gpuward-exporter:2";
  const CurrentPolicy policy(newer);
  QuarantineJobAction action(*api, policy);
  kube::Node node;
  node.meta.name = "gpu-01";
  const PlannedStep step = planned(Step::kQuarantineJob);
  const auto begin = [&] {
    const auto progress = action.begin(request_of(node, step));
    EXPECT_TRUE(progress) << progress.error().message;
    return progress.value_or(StepProgress{});
  };

  const StepProgress refused = begin();
  EXPECT_EQ(refused.result, StepResult::kIntended);
  EXPECT_THAT(refused.message, HasSubstr("quarantine-job waits: "));
  EXPECT_THAT(refused.message, HasSubstr("registry.example/gpuward-exporter:2: jobs.image of the "
                                         "policy must be there too"));

  must("PATCH", std::string(kNamespace) + "/configmaps/gpuward-job-values",
       {{"data", {{"image", kImage + (" " + newer.jobs.image)}}}});
  EXPECT_TRUE(support::wait_until([&] { return begin().result == StepResult::kRunning; },
                                  "the image of the new version"));
  expect({create("remediator", "a Job of the version before", kJobs, step_job(Step::kNcclTest))});
  must("PATCH", std::string(kNamespace) + "/configmaps/gpuward-job-values",
       {{"data", {{"image", kImage}}}});
}

TEST_F(TokenRights, LetNoJobRestartAMachineUnlessThePolicyWantsIt) {
  const std::string path = std::string(kNamespace) + "/configmaps/gpuward-job-values";
  const Write restart =
      create("remediator", "a restart", kJobs, step_job(Step::kReboot), kJobShapes);
  must("PATCH", path, {{"data", {{"reboot", "false"}}}});
  EXPECT_TRUE(support::wait_until([&] { return send(restart).body.contains(kJobShapes); },
                                  "the restart refused"));
  expect({restart, create("remediator", "a test", kJobs, step_job(Step::kNcclTest))});
  must("PATCH", path, {{"data", {{"reboot", "true"}}}});
  EXPECT_TRUE(support::wait_until([&] { return !send(restart).body.contains(kJobShapes); },
                                  "the restart allowed"));
}

// Only these values say which image is the exporter's.
TEST_F(TokenRights, LetNoJobBeCreatedWithoutTheValuesOfThePolicy) {
  const std::string path = std::string(kNamespace) + "/configmaps/gpuward-job-values";
  const auto before = plane_->request("GET", path);
  ASSERT_TRUE(before);
  const Write test = create("remediator", "a test", kJobs, step_job(Step::kNcclTest), kJobShapes);
  const auto is_refused = [&] { return send(test).body.contains(kJobShapes); };
  must("PATCH", path, {{"data", {{"image", ""}}}});
  EXPECT_TRUE(support::wait_until(is_refused, "an empty image refused"));
  expect({test});
  must("PATCH", path, {{"data", {{"image", kImage}}}});
  ASSERT_TRUE(support::wait_until([&] { return !is_refused(); }, "the image"));
  const auto deleted = plane_->request("DELETE", path);
  ASSERT_TRUE(deleted && deleted->status == 200);
  EXPECT_TRUE(support::wait_until(is_refused, "absent values refused"));

  Json values = parse_json(before->body).value_or(Json());
  values["metadata"] = {{"name", "gpuward-job-values"}};
  must("POST", std::string(kNamespace) + "/configmaps", values);
  EXPECT_TRUE(support::wait_until([&] { return !is_refused(); }, "the values"));
}

}  // namespace
}  // namespace gpuward::remediator
