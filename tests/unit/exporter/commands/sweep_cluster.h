// A cluster in memory in which Jobs run at once and end as a test says, and a connection to it that
// can die at any request. Used by the tests of sweep and quarantine.
#pragma once

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/log.h"
#include "exporter/commands/sweep.h"
#include "exporter/publish/node/node_keys.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::exporter {

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

inline constexpr const char* kPassLine = R"({"check":"1-dcgm-diag-l2","status":"PASS"})";
inline constexpr const char* kSkipLine =
    R"({"check":"1-dcgm-diag-l2","status":"SKIP","details":"dcgmi is not here"})";

struct JobEnd {
  int exit_code = 0;
  std::string message = kPassLine;
  bool never = false;           // it never ends
  std::string no_pod_why = {};  // it fails without a pod that ended
};

inline constexpr std::size_t kForEver = std::numeric_limits<std::size_t>::max();

inline constexpr const char* kJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
inline constexpr const char* kPods = "/api/v1/namespaces/gpu-healthcheck/pods";

// Plays the job controller and the kubelet as soon as a Job exists.
class JobRunner {
 public:
  explicit JobRunner(fakes::FakeKube& kube) : kube_(kube) {}
  std::map<std::string, JobEnd> ends;  // by node; others pass

  void run(const Json& job) {
    const std::string name = job["metadata"]["name"];
    const Json& labels = job["metadata"]["labels"];
    std::string node = string_at(labels, kGpuwardNames(NodeName::kTargetNode));
    if (node.empty()) node = string_at(labels, kAwsSamplesNames(NodeName::kTargetNode));
    const JobEnd end = ends[node];
    if (end.never) return;
    const bool is_good = end.exit_code == 0 && end.no_pod_why.empty();
    if (end.no_pod_why.empty()) make_pod(name, node, end);
    Json condition = {{"type", is_good ? "Complete" : "Failed"}, {"status", "True"}};
    condition["reason"] = end.no_pod_why;
    kube_.patch_status(std::string(kJobs) + "/" + name,
                       {{"status", {{"conditions", Json::array({condition})}}}});
  }

 private:
  void make_pod(const std::string& job, const std::string& node, const JobEnd& end) {
    kube_.create(kPods, fakes::pod(job, node, {{"job-name", job}}));
    const Json terminated = {{"exitCode", end.exit_code}, {"message", end.message}};
    const Json status = {{"name", "main"}, {"state", {{"terminated", terminated}}}};
    kube_.patch_status(std::string(kPods) + "/" + job,
                       {{"status",
                         {{"phase", end.exit_code == 0 ? "Succeeded" : "Failed"},
                          {"containerStatuses", Json::array({status})}}}});
  }
  fakes::FakeKube& kube_;
};

// A client that dies after so many requests. The last request or its answer is lost on its way. The
// server cannot distinguish this from a killed program.
class MortalClient final : public http::Client {
 public:
  enum class Death { kBeforeTheRequest, kBeforeTheAnswer };
  MortalClient(fakes::FakeKube& kube, JobRunner& jobs) : client_(kube), jobs_(jobs) {}

  std::size_t lives = std::numeric_limits<std::size_t>::max();
  Death death = Death::kBeforeTheRequest;
  std::size_t requests = 0;

  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    ++requests;
    if (requests > lives) return fail(ErrorKind::kUnavailable, "dead");
    if (requests == lives && death == Death::kBeforeTheRequest)
      return fail(ErrorKind::kUnavailable, "dead");
    auto answer = client_.send(request);
    if (answer && answer->status == 201 && request.method == "POST" &&
        request.url.ends_with("/jobs"))
      jobs_.run(parse_json(answer->body).value());
    if (requests == lives) return fail(ErrorKind::kUnavailable, "dead");
    return answer;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest&, std::chrono::milliseconds,
                                      std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return fail(ErrorKind::kInternal, "nobody watches here");
  }

 private:
  fakes::InProcessClient client_;
  JobRunner& jobs_;
};

// One process. Its memory is lost with it.
struct SweepProcess {
  SweepProcess(fakes::FakeKube& kube, JobRunner& jobs, Clock& a_clock)
      : client(kube, jobs), clock(a_clock) {}
  kube::Api make_api() {
    kube::ApiOptions options;
    options.server = "http://fake";
    options.retry_deadline = std::chrono::milliseconds(0);
    return {options, client, credentials, clock};
  }
  Result<SweepSummary> sweep(SweepOptions options, const std::stop_token& stop = {}) {
    kube::Api api = make_api();
    Sweep sweep(std::move(options), api, clock, log);
    return sweep.run(stop);
  }
  MortalClient client;
  NoCredentials credentials;
  Clock& clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
};

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() { kube_.create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-healthcheck"}}}}); }
  void add_node(const std::string& name) { kube_.create(kNodes, fakes::ready_node(name)); }
  void add_pod(const std::string& name, const std::string& node, const std::string& resource,
               const std::string& phase = "Running") {
    Json pod = fakes::pod(name, node);
    if (!resource.empty()) pod["spec"]["containers"][0]["resources"]["limits"] = {{resource, "1"}};
    kube_.create("/api/v1/namespaces/default/pods", pod);
    kube_.patch_status("/api/v1/namespaces/default/pods/" + name, {{"status", {{"phase", phase}}}});
  }
  SweepOptions options(const std::string& owner = "sweep 1") {
    SweepOptions made;
    made.job.image = "registry.example/gpuward:1";
    made.owner = owner;
    return made;
  }
  Result<SweepSummary> sweep(SweepOptions made) {
    SweepProcess process(kube_, jobs_, clock_);
    return process.sweep(std::move(made));
  }
  Result<SweepSummary> sweep() { return sweep(options()); }

  Json node(const std::string& name) { return kube_.get(std::string(kNodes) + "/" + name); }
  void patch_node(const std::string& name, const Json& patch) {
    kube_.patch(std::string(kNodes) + "/" + name, patch);
  }
  bool has_taint(const std::string& name, std::string_view key) {
    return fakes::has_taint(node(name), key);
  }
  std::string label(const std::string& name, std::string_view key) {
    return fakes::label_of(node(name), key);
  }
  std::string annotation(const std::string& name, std::string_view key) {
    return fakes::annotation_of(node(name), key);
  }
  // Labels a paused operand of NVIDIA's GPU operator.
  void pause_operands(const std::string& name,
                      const std::string& value = "paused-for-driver-upgrade") {
    patch_node(name,
               {{"metadata", {{"labels", {{"nvidia.com/gpu.deploy.dcgm-exporter", value}}}}}});
  }
  std::size_t jobs_created() { return kube_.requests("POST", kJobs).size(); }

  static constexpr const char* kNodes = "/api/v1/nodes";
  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  JobRunner jobs_{kube_};
};

}  // namespace gpuward::exporter
