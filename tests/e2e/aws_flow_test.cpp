// The whole flow on AWS: a line in the kernel log, gpuward-exporter, Prometheus, Alertmanager,
// gpuward-remediator, the cordon, the drain, the end of the instance through its Auto Scaling group
// on moto, the end of the Node, the closed Remediation, and the notifications of two receivers;
// with kill -9 in the middle. The cluster is the fake one: the test plays its kubelet and its cloud
// controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/e2e/fake_cluster.h"
#include "tests/e2e/scenario.h"
#include "tests/e2e/stack.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/moto.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/notify/receiver.h"

namespace gpuward::e2e {
namespace {

constexpr const char* kNode = "gpu-node-1";
constexpr const char* kNodePath = "/api/v1/nodes/gpu-node-1";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kRemediations = "/apis/gpuward.dev/v1alpha1/remediations";
constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/gpuward/leases/gpuward-remediator";
// The part of the policy before the sinks.
constexpr const char* kPolicy =
    "mode: full\n"
    "severities:\n"
    "  isolate: [taint, cordon, drain, wait: {approval: false}, terminate]\n"
    "machines: {aws: {terminate: true, cluster: fleet}}\n";
constexpr const char* kRights =
    R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:Describe*",)"
    R"("autoscaling:DescribeAutoScalingInstances",)"
    R"("autoscaling:TerminateInstanceInAutoScalingGroup","sns:Publish"],"Resource":"*"}]})";

// The moments of the events; steps by their name.
std::set<std::string> moments_of(const std::vector<Json>& events) {
  std::set<std::string> moments;
  for (const Json& event : events) {
    const std::string moment = string_at(event, "moment");
    moments.insert(moment == "step" ? string_at(event, "step") : moment);
  }
  return moments;
}

class AwsFlow : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(why_no_stack());
    GPUWARD_REQUIRE_IN(kAll, support::Moto::why_unavailable());
    start_moto();
    auto log = KernelLog::fifo(folder_ / "kmsg");
    ASSERT_TRUE(log) << log.error().message;
    log_ = std::make_unique<KernelLog>(*std::move(log));
    const auto started = cluster_.start();
    ASSERT_TRUE(started) << started.error().message;
    put_node();
    make_topic();
    const auto rights = moto_->add_user("remediator", kRights);
    ASSERT_TRUE(rights) << rights.error().message;
    auto stack = Stack::start({.cluster = &cluster_,
                               .folder = folder_.path(),
                               .nodes = {{.name = kNode, .log = log_.get()}},
                               .policy = kPolicy + sinks(),
                               .environment = *rights});
    ASSERT_TRUE(stack) << stack.error().message;
    stack_ = *std::move(stack);
  }
  void TearDown() override {
    if (HasFailure() && stack_) std::cout << stack_->logs();
  }
  void start_moto() {
    auto started = support::Moto::start();
    ASSERT_TRUE(started) << started.error().message;
    moto_ = *std::move(started);
    const auto id = moto_->run_group("gpu");
    ASSERT_TRUE(id) << id.error().message;
    instance_ = *id;
    const auto tagged =
        moto_->admin().query({.service = aws::kEc2,
                              .action = "CreateTags",
                              .version = "2016-11-15",
                              .parameters = {{"ResourceId.1", instance_},
                                             {"Tag.1.Key", "kubernetes.io/cluster/fleet"},
                                             {"Tag.1.Value", "owned"}}});
    ASSERT_TRUE(tagged) << tagged.error().message;
  }
  // In the boot of this machine, because the exporter runs on it, and old enough to be set up.
  void put_node() {
    Json node = fakes::ready_node(kNode);
    node["spec"]["providerID"] = "aws:///us-east-1a/" + instance_;
    const auto boot = read_file("/proc/sys/kernel/random/boot_id");
    node["status"]["nodeInfo"]["bootID"] = std::string(trim(boot.value_or("")));
    cluster_.kube().create("/api/v1/nodes", node);
    cluster_.kube().backdate(kNodePath, std::chrono::hours(24));
    Json pod = fakes::pod("work", kNode);
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "ReplicaSet"},
                                                       {"name", "work"},
                                                       {"uid", "uid-of-work"},
                                                       {"controller", true}}});
    cluster_.kube().create(kPods, pod);
    cluster_.kube().patch_status(std::string(kPods) + "/work", fakes::running_status());
  }
  aws::XmlElement sns(const std::string& action, http::Query parameters) {
    const auto done = moto_->admin().query({.service = aws::kSns,
                                            .action = action,
                                            .version = "2010-03-31",
                                            .parameters = std::move(parameters)});
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(aws::XmlElement{});
  }
  void make_topic() {
    topic_ = sns("CreateTopic", {{"Name", "gpus"}}).text_at("CreateTopicResult/TopicArn");
    sns("Subscribe", {{"TopicArn", topic_}, {"Protocol", "http"}, {"Endpoint", subscriber_.url()}});
  }
  std::string sinks() const {
    const std::string moments = ", moments: [opened, step, held, paused, closed]}\n";
    return "notifications:\n  sinks:\n    - {name: tickets, webhook: {url: '" + tickets_.url() +
           "'}" + moments + "    - {name: topic, sns: {topic_arn: '" + topic_ + "'}" + moments;
  }
  std::set<std::string> heard_by_topic() const {
    std::vector<Json> events;
    for (const Json& message : subscriber_.events())
      events.push_back(parse_json(string_at(message, "Message")).value_or(Json()));
    return moments_of(events);
  }
  Json remediation() {
    const Json items = cluster_.kube().get(kRemediations)["items"];
    return items.empty() ? Json() : items[0];
  }
  std::string status(const std::string& key) {
    return string_at(member_at(remediation(), "status"), key);
  }
  bool has_begun_to_terminate() {
    const Json all = remediation();
    for (const Json& step : member_at(member_at(all, "status"), "steps")) {
      if (string_at(step, "name") == "terminate") return true;
    }
    return false;
  }
  ::testing::AssertionResult comes_to(const std::function<bool()>& is_reached,
                                      const std::string& what) {
    const auto waited = support::wait_until(
        [&] {
          cluster_.kube().end_terminating_pods();
          return is_reached();
        },
        what);
    if (waited) return waited;
    return ::testing::AssertionFailure() << waited.message() << "; it says: " << status("message");
  }
  // Avoids a wait for the end of the dead holder's lease.
  void crash() {
    if (cluster_.kube().has(kLease)) cluster_.kube().remove(kLease);
    const auto started = stack_->crash_remediator();
    ASSERT_TRUE(started) << started.error().message;
  }

  remediator::Receiver tickets_, subscriber_;
  std::string topic_;
  support::TempDir folder_;
  std::unique_ptr<support::Moto> moto_;
  std::string instance_;
  std::unique_ptr<KernelLog> log_;
  FakeCluster cluster_{folder_.path()};
  std::unique_ptr<Stack> stack_;
};

TEST_F(AwsFlow, LeadsFromTheKernelsLineToTheReplacedNodeThoughTheRemediatorIsKilled) {
  ASSERT_TRUE(write_file_atomically(stack_->scenario_file(kNode),
                                    eight_gpus_yaml(", row_remap_failure: true")));
  ASSERT_TRUE(log_->write(kRowRemapperFailed));
  ASSERT_TRUE(comes_to([&] { return has_begun_to_terminate(); }, "the intent to end the machine"));
  const Json node = cluster_.kube().get(kNodePath);
  EXPECT_TRUE(fakes::has_taint(node, "gpuward.dev/remediation"));
  EXPECT_EQ(node["spec"]["unschedulable"], true);
  EXPECT_FALSE(cluster_.kube().has(std::string(kPods) + "/work"));
  ASSERT_TRUE(comes_to([&] { return moto_->state_of(instance_) == "terminated"; },
                       "the end of the instance"));
  // The crash comes before or after the record has the answer.
  crash();

  ASSERT_TRUE(
      comes_to([&] { return status("message").find("waiting for the Node") != std::string::npos; },
               "the machine is proven gone"));
  cluster_.kube().remove(kNodePath);

  ASSERT_TRUE(comes_to([&] { return status("phase") == "Replaced"; }, "the closed Remediation"));
  EXPECT_EQ(cluster_.kube().get(kRemediations)["items"].size(), 1U);
  const auto members = moto_->members_of("gpu");
  ASSERT_EQ(members.size(), 1U);
  EXPECT_NE(members[0], instance_);
  EXPECT_EQ(moto_->state_of(members[0]), "running");
  const std::set<std::string> all = {"opened", "taint", "cordon", "drain", "terminate", "closed"};
  EXPECT_TRUE(comes_to([&] { return moments_of(tickets_.events()) == all; }, "all tickets"));
  EXPECT_TRUE(comes_to([&] { return heard_by_topic() == all; }, "all messages of the topic"));
}

}  // namespace
}  // namespace gpuward::e2e
