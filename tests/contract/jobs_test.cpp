#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

class JobsContract : public ContractTest {
 protected:
  static std::string job_json(const std::string& name) {
    Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    job["metadata"] = {{"name", name}, {"labels", {{"sweep", name}}}};
    job["spec"] = {{"backoffLimit", 0},
                   {"template",
                    {{"spec",
                      {{"restartPolicy", "Never"},
                       {"containers",
                        Json::array({{{"name", "check"}, {"image", "registry.example/c:1"}}})}}}}}};
    return dump_json(job);
  }
  static constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs/";
};
GPUWARD_CONTRACT(JobsContract);

TEST_P(JobsContract, IsCreatedReadAndListed) {
  const auto made = api().create_job("default", job_json(own_name()));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->meta.uid.empty());
  const auto read = api().get_job("default", own_name());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->meta.uid, made->meta.uid);
  EXPECT_FALSE(read->is_complete);
  EXPECT_FALSE(read->is_failed);
  const auto listed = api().list_jobs("default", "sweep=" + own_name());
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->size(), 1U);
}

TEST_P(JobsContract, OfOneNameIsCreatedOnce) {
  ASSERT_TRUE(api().create_job("default", job_json(own_name())));
  EXPECT_EQ(api().create_job("default", job_json(own_name())).error().kind,
            ErrorKind::kAlreadyExists);
}

TEST_P(JobsContract, SaysWhyItFailed) {
  ASSERT_TRUE(api().create_job("default", job_json(own_name())));
  const Json failed = {
      {"type", "FailureTarget"}, {"status", "True"}, {"reason", "DeadlineExceeded"}};
  Json last = failed;
  last["type"] = "Failed";
  must("PATCH", kJobs + own_name() + "/status",
       {{"status",
         {{"startTime", "2026-01-01T00:00:00Z"}, {"conditions", Json::array({failed, last})}}}});
  const auto job = api().get_job("default", own_name());
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->is_failed);
  EXPECT_FALSE(job->is_complete);
  EXPECT_EQ(job->failure, "DeadlineExceeded");
}

TEST_P(JobsContract, IsDeletedOnce) {
  ASSERT_TRUE(api().create_job("default", job_json(own_name())));
  const auto gone = api().delete_job("default", own_name());
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_EQ(api().get_job("default", own_name()).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(api().delete_job("default", own_name()).error().kind, ErrorKind::kNotFound);
}

TEST_P(JobsContract, TheEndOfItsPodIsRead) {
  Json pod = fakes::pod(own_name(), "", {{"job-name", own_name()}});
  pod["spec"]["containers"][0]["resources"]["limits"] = {{"nvidia.com/gpu", "2"}, {"cpu", "0"}};
  pod["spec"]["containers"][0]["resources"]["requests"] = {{"nvidia.com/gpu", "2"}};
  must("POST", "/api/v1/namespaces/default/pods", pod);
  Json end = {{"exitCode", 1}, {"reason", "Error"}, {"message", "{\"status\":\"FAIL\"}"}};
  Json status = {{"name", "main"}, {"image", "i"},      {"imageID", "i"},
                 {"ready", false}, {"restartCount", 0}, {"state", {{"terminated", end}}}};
  must("PATCH", "/api/v1/namespaces/default/pods/" + own_name() + "/status",
       {{"status", {{"phase", "Failed"}, {"containerStatuses", Json::array({status})}}}});
  const auto pods = api().list_pods("default", "job-name=" + own_name());
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_EQ(pods->size(), 1U);
  const kube::Pod& read = pods->front();
  EXPECT_EQ(read.resources, std::vector<std::string>{"nvidia.com/gpu"});
  EXPECT_FALSE(read.has_resource_claims);
  ASSERT_EQ(read.ended.size(), 1U);
  EXPECT_EQ(read.ended[0].exit_code, 1);
  EXPECT_EQ(read.ended[0].message, "{\"status\":\"FAIL\"}");
}

}  // namespace
}  // namespace gpuward::contract
