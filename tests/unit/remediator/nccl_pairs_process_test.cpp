// Three nodes of one job, one of them unhealthy, with the real gpuward-remediator. Each node passes
// its own test, and NCCL tests between pairs of nodes find the unhealthy one.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <regex>
#include <set>

#include "core/http/server/server.h"
#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/job_kubelet.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPodsOfTheJob = "/api/v1/namespaces/default/pods";
constexpr const char* kAllRemediations = "/apis/gpuward.dev/v1alpha1/remediations";
constexpr const char* kPairsPolicy =
    "mode: full\n"
    "severities: {isolate: [taint, cordon, drain]}\n"
    "jobs: {image: here/gpuward:1}\n"
    "recovery:\n"
    "  isolate: [nccl-test, nccl-pairs, verify: {soak: 0s}, return-to-service]\n"
    "budgets:\n"
    "  cluster: {percent: 100}\n"
    "  pool: {percent: 100}\n"
    "  zone: {percent: 100}\n"
    "  taint: {percent: 100}\n"
    "  cordon: {percent: 100}\n"
    "  storm: {nodes: 9}\n"
    "  breaker: {percent: 100}\n";
// The program of the image. It prints more than gpuward keeps. Only gpu-02 itself reports a failed
// pair, and its partner learns of it from there.
constexpr const char* kExporter =
    "#!/bin/sh\n"
    "[ \"$1\" = nccl-pair ] && [ \"$NODE_NAME\" = gpu-02 ] || exit 0\n"
    "for stage in 1 2 3 4 5 6; do\n"
    "  echo \"ts=2026-11-22T09:00:00.000Z level=info msg=\\\"At work\\\" stage=$stage\" >&2\n"
    "done\n"
    "echo '{\"check\":\"5-nccl-pair\",\"status\":\"fail\",\"details\":\"210 GB/s\"}'\n"
    "exit 1\n";

class WholePairs : public ::testing::Test {
 protected:
  WholePairs() {
    hands_.kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-healthcheck"}}}});
    hands_.create(
        "/api/v1/namespaces/gpuward/configmaps",
        {{"metadata", {{"name", "gpuward-remediator-switch"}}}, {"data", {{"stop", "false"}}}});
    for (const std::string& node : nodes_) put_node(node);
    const auto script = folder_.write("gpuward-exporter", kExporter);
    EXPECT_EQ(::chmod(script.c_str(), 0700), 0);
    serve_reports();
  }
  void put_node(const std::string& name) {
    hands_.create("/api/v1/nodes", fakes::ready_node(name));
    const Json address = {{"type", "InternalIP"}, {"address", "10.0.0." + name.substr(4)}};
    hands_.patch_status("/api/v1/nodes/" + name,
                        {{"status", {{"addresses", Json::array({address})}}}});
    hands_.make_old(name);
    Json pod = fakes::pod("train-" + name, name, {{"jobset.sigs.k8s.io/jobset-name", "train"}});
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "batch/v1"},
                                                       {"kind", "Job"},
                                                       {"name", "train"},
                                                       {"uid", "uid-of-train"},
                                                       {"controller", true}}});
    hands_.create(kPodsOfTheJob, pod);
    hands_.patch_status(std::string(kPodsOfTheJob) + "/train-" + name, fakes::running_status());
  }
  // A Prometheus with the report of each node's exporter.
  void serve_reports() {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(options, {{.path = "/api/v1/query",
                                                 .methods = {"GET"},
                                                 .handler = [this](const http::Request& request) {
                                                   return http::Response::json(
                                                       200, report_for(request.query));
                                                 }}});
    ASSERT_TRUE(server) << server.error().message;
    prometheus_ = std::move(*server);
  }
  std::string report_for(const std::string& query) {
    const std::lock_guard lock(mutex_);
    for (const std::string& node : nodes_) {
      if (query.find(node) == std::string::npos) continue;
      const bool is_well = well_.contains(node);
      const auto since_epoch = lasting_clock().wall().time_since_epoch();
      const auto now = std::to_string(std::chrono::duration<double>(since_epoch).count());
      const auto sample = [&](const char* what, const std::string& value) {
        return Json{{"metric", {{"what", what}, {"boot_id", "boot-" + node}}},
                    {"value", Json::array({0, value})}};
      };
      const std::string severity =
          std::to_string(static_cast<int>(is_well ? Severity::kNone : Severity::kIsolate));
      Json observed = sample("observed", now);
      observed["metric"]["severity"] = is_well ? "none" : "isolate";
      return dump_json(
          {{"status", "success"},
           {"data",
            {{"resultType", "vector"},
             {"result",
              Json::array({sample("measured_at", now), sample("severity", severity),
                           sample("confirmed_severity", severity), sample("kernel_log_up", "1"),
                           sample("boot", "1"), observed})}}}});
    }
    return R"({"status":"success","data":{"resultType":"vector","result":[]}})";
  }

  void start() {
    const auto policy = folder_.write("policy.yaml", kPairsPolicy);
    auto process = support::Process::spawn(
        {.argv = {
             kProgram, "--web.listen-address=127.0.0.1:0", "--web.telemetry-address=127.0.0.1:0",
             "--web.insecure", "--config.file=" + policy.string(),
             "--prometheus.url=http://127.0.0.1:" + std::to_string(prometheus_->ports().front()),
             "--kubeconfig=" + hands_.kubeconfig(), "--log.format=json"}});
    ASSERT_TRUE(process) << process.error().message;
    process_ = std::move(*process);
    ASSERT_TRUE(support::poll_until([&] { return webhook_port() != 0; }))
        << process_->error_output();
  }
  int webhook_port() const {
    static const std::regex kLine("Webhook is served[^\n]*\"port\":\"?([0-9]+)");
    const std::string text = process_->error_output();
    std::smatch match;
    return std::regex_search(text, match, kLine) ? std::stoi(match[1].str()) : 0;
  }
  // Returns whether the remediator accepted the alert.
  bool deliver(const std::string& node, bool fires) {
    const Json alert = {
        {"status", fires ? "firing" : "resolved"},
        {"labels", {{"alertname", "Bad"}, {"node", node}, {"remediation", "isolate"}}},
        {"annotations", Json::object()},
        {"startsAt", fired_at_},
        {"endsAt", fires ? "0001-01-01T00:00:00Z" : to_rfc3339_ms(lasting_clock().wall())},
        {"fingerprint", "ab12"}};
    return support::http_post(
               "http://127.0.0.1:" + std::to_string(webhook_port()) + "/api/v1/alerts",
               dump_json(
                   {{"version", "4"}, {"truncatedAlerts", 0}, {"alerts", Json::array({alert})}}))
               .status == 200;
  }

  Json remediation_of(const std::string& node) {
    const Json list = hands_.get(kAllRemediations);
    for (const Json& one : list["items"]) {
      if (string_at(one["spec"], "nodeName") == node) return one;
    }
    return nullptr;
  }
  std::string phase_of_node(const std::string& node) {
    return string_at(member_at(remediation_of(node), "status"), "phase");
  }
  Json pairs_of(const std::string& node) {
    const Json remediation = remediation_of(node);
    for (const Json& step : member_at(member_at(remediation, "status"), "steps")) {
      if (string_at(step, "name") == "nccl-pairs") return step;
    }
    return nullptr;
  }

  [[nodiscard]] std::size_t pair_jobs() {
    const Json jobs = hands_.get(kStageJobs);
    return static_cast<std::size_t>(std::ranges::count_if(jobs["items"], [](const Json& job) {
      return string_at(job["metadata"]["labels"], "gpuward.dev/step") == "nccl-pairs";
    }));
  }
  bool is_told_apart() {
    return phase_of_node("gpu-01") == "Released" && phase_of_node("gpu-03") == "Released" &&
           phase_of_node("gpu-02") == "Held";
  }
  bool play_pairs_until(const std::function<bool()>& is_reached) {
    return support::poll_until([&] {
      turn();
      return is_reached();
    });
  }
  // Kills the process and starts another, which does not have to wait for the end of the lease.
  void die_and_start_anew() {
    process_->signal(SIGKILL);
    ASSERT_TRUE(process_->wait_exit());
    hands_.remove("/apis/coordination.k8s.io/v1/namespaces/gpuward/leases/gpuward-remediator");
    start();
  }

  // Plays the kubelets, the Job controller, the exporters and the Alertmanager.
  void turn() {
    for (const std::string& node : nodes_) {
      if (!told_.contains(node) && deliver(node, true)) told_.insert(node);
      if (ended_.contains(node) || string_at(pairs_of(node), "result") != "done") continue;
      {
        const std::lock_guard lock(mutex_);
        well_.insert(node);
      }
      if (deliver(node, false)) ended_.insert(node);
    }
    const Json pods = hands_.get(kPodsOfTheJob);
    for (const Json& pod : pods["items"]) {
      const std::string path =
          std::string(kPodsOfTheJob) + "/" + string_at(pod["metadata"], "name");
      if (pod["metadata"].contains("deletionTimestamp") && hands_.has(path)) hands_.remove(path);
    }
    if (!kubelets_wait_ || pair_jobs() == 0) kubelet_.turn();
  }

  static constexpr const char* kProgram = GPUWARD_BIN_DIR "/gpuward-remediator";
  const std::vector<std::string> nodes_{"gpu-01", "gpu-02", "gpu-03"};
  FakeHands hands_;
  support::TempDir folder_;
  std::mutex mutex_;
  std::set<std::string> told_, ended_, well_;
  std::string fired_at_ = to_rfc3339_ms(lasting_clock().wall());
  std::unique_ptr<http::Server> prometheus_;
  JobKubelet kubelet_{hands_, {{"PATH", folder_.path().string() + ":/usr/bin:/bin"}}};
  std::unique_ptr<support::Process> process_;
  bool kubelets_wait_ = false;  // with the Jobs of pairs
};

// CONTRACTS E: pairs of nodes.
TEST_F(WholePairs, OnlyTheCulpritOfAJobsNodesStaysOut) {
  ASSERT_NO_FATAL_FAILURE(start());

  const bool is_over = play_pairs_until([&] { return is_told_apart(); });

  ASSERT_TRUE(is_over) << dump_json(hands_.get(kAllRemediations)) << process_->error_output();
  for (const char* node : {"gpu-01", "gpu-03"}) {
    const Json now = hands_.get(std::string("/api/v1/nodes/") + node);
    EXPECT_FALSE(now["spec"].value("unschedulable", false)) << node;
    EXPECT_FALSE(fakes::has_taint(now, "gpuward.dev/remediation")) << node;
  }
  EXPECT_TRUE(hands_.get("/api/v1/nodes/gpu-02")["spec"].value("unschedulable", false));
  EXPECT_THAT(string_at(pairs_of("gpu-02"), "message"),
              HasSubstr("fails with gpu-01, which passes with gpu-03"));
  const auto told =
      support::Process::run({.argv = {GPUWARD_BIN_DIR "/gpuwardctl", "explain", "gpu-02",
                                      "--kubeconfig=" + hands_.kubeconfig()}});
  ASSERT_TRUE(told);
  EXPECT_THAT(told->output, HasSubstr("step nccl-pairs: failed"));
  EXPECT_THAT(told->output, HasSubstr("not returned: nccl-pairs failed: fails with gpu-01, which "
                                      "passes with gpu-03: gpu-02: "));
  EXPECT_THAT(told->output, HasSubstr("210 GB/s"));
}

TEST_F(WholePairs, GoOnIfTheRemediatorDiesBesideTheirJobs) {
  kubelets_wait_ = true;
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(play_pairs_until([&] { return pair_jobs() > 0; })) << process_->error_output();
  ASSERT_NO_FATAL_FAILURE(die_and_start_anew());
  kubelets_wait_ = false;

  const bool is_over = play_pairs_until([&] { return is_told_apart(); });

  ASSERT_TRUE(is_over) << dump_json(hands_.get(kAllRemediations)) << process_->error_output();
  EXPECT_EQ(pair_jobs(), 4U) << "two tests of two nodes, none made twice";
}

}  // namespace
}  // namespace gpuward::remediator
