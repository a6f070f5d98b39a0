#include "tests/simulation/pair_kubelets.h"

#include <algorithm>
#include <cstdint>

#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kJobs = "/apis/batch/v1/namespaces/" + kJobNamespace + "/jobs";
constexpr const char* kFailure = R"({"check":"5-nccl-pair","status":"fail"})";

std::string name_of(const Json& job) { return string_at(job["metadata"], "name"); }
std::string node_of(const Json& job) {
  return string_at(job["spec"]["template"]["spec"], "nodeName");
}
std::string part_of(const Json& job) { return fakes::label_of(job, "gpuward.dev/part"); }
std::uint64_t version_of(const Json& job) {
  return std::stoull(string_at(job["metadata"], "resourceVersion"));
}
bool has_ended(const Json& job) { return member_at(job, "status").contains("conditions"); }

}  // namespace

std::vector<PairKubelets::Test> PairKubelets::running() const {
  auto jobs = stage_.kube.get(kJobs)["items"].get<std::vector<Json>>();
  std::erase_if(jobs, [](const Json& job) { return has_ended(job) || part_of(job).empty(); });
  std::ranges::sort(jobs, {}, version_of);
  std::vector<Test> tests;
  for (Json& job : jobs) {
    const std::string part = part_of(job);
    const auto known =
        std::ranges::find_if(tests, [&](const Test& test) { return part_of(test[0]) == part; });
    if (known != tests.end()) {
      known->push_back(std::move(job));
    } else {
      tests.push_back({std::move(job)});
    }
  }
  return tests;
}

bool PairKubelets::fails(const Test& jobs) const {
  return std::ranges::any_of(jobs, [&](const Json& job) {
    const NodeTruth* const node = stage_.truth.node(node_of(job));
    return node != nullptr && stage_.bad_links.contains(node->node.provider_id);
  });
}

void PairKubelets::go_on() {
  std::vector<Test> tests = running();
  if (tests.empty()) return;
  Chance& chance = stage_.pairs_chance;
  const Test& jobs = chance.pick(tests);
  if (jobs.size() < 2) {  // the program waits for its partner
    if (chance.happens(0.2)) exit(jobs[0], 1, "no peer has connected");
    return;
  }
  const Json& one = jobs[static_cast<std::size_t>(chance.between(0, 1))];
  switch (chance.weighted({70, 10, 8, 6, 6})) {
    case 0:
      for (const Json& job : jobs) exit_honestly(job, fails(jobs));
      break;
    case 1:
      exit_honestly(one, fails(jobs));
      break;
    case 2:
      exit(one, 1, "libnccl.so.2 is not there");
      break;
    case 3:
      pass_deadline(one);
      break;
    default:
      remove(one);
  }
}

void PairKubelets::end_all() {
  if (seen_ == stage_.jobs_made) return;
  for (const Test& jobs : running()) {
    if (jobs.size() < 2) continue;
    for (const Json& job : jobs) exit_honestly(job, fails(jobs));
  }
  seen_ = stage_.jobs_made;
}

void PairKubelets::exit_honestly(const Json& job, bool fails) {
  exit(job, fails ? 1 : 0, fails ? kFailure : "");
}

void PairKubelets::exit(const Json& job, int code, const std::string& words) {
  const std::string name = name_of(job);
  Json pod = fakes::pod(name + "-pod", node_of(job), {{"job-name", name}});
  pod["metadata"]["ownerReferences"] = fakes::owned_by_job(job);
  stage_.kube.create(kJobPods, pod);
  stage_.kube.patch_status(kJobPods + "/" + name + "-pod",
                           fakes::ended_pod_status("c", code, words));
  stage_.kube.patch_status(kJobs + "/" + name,
                           fakes::ended_job_status(code == 0 ? "Complete" : "Failed"));
  stage_.trace.say("Job on " + node_of(job) + " exits with " + std::to_string(code));
}

void PairKubelets::pass_deadline(const Json& job) {
  stage_.kube.patch_status(kJobs + "/" + name_of(job),
                           fakes::ended_job_status("Failed", "DeadlineExceeded"));
  stage_.trace.say("Job on " + node_of(job) + " has passed its deadline");
}

void PairKubelets::remove(const Json& job) {
  stage_.kube.remove(kJobs + "/" + name_of(job));
  stage_.trace.say("Job on " + node_of(job) + " is deleted by somebody");
}

}  // namespace gpuward::remediator::simulation
