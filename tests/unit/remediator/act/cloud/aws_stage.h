// The AWS provider on a moto that all tests of a suite share: instances, groups, the machine of a
// node on one of them, and the shipped rights. Used by the tests of the provider.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "remediator/act/cloud/aws_provider.h"
#include "tests/support/on_moto.h"
#include "tests/unit/remediator/act/cloud/shipped_policy.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {

// moto supports neither ARNs nor conditions.
inline std::string allowing(const std::vector<std::string>& actions) {
  const Json statement = {{"Effect", "Allow"}, {"Resource", "*"}, {"Action", actions}};
  return dump_json({{"Version", "2012-10-17"}, {"Statement", Json::array({statement})}});
}

class AwsStage : public support::OnMoto<DrainCluster> {
 protected:
  static void SetUpTestSuite() {
    OnMoto::SetUpTestSuite();
    if (!moto) return;
    const auto user = moto->add_user("remediator", allowing(shipped_actions()));
    ASSERT_TRUE(user) << user.error().message;
    rights = *user;
  }
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kAll, support::Moto::why_unavailable());
    Policy wanted;
    wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = ""};
    policy_.set(wanted);
    use(rights);
  }
  void use(const std::map<std::string, std::string>& variables) {
    aws_ = std::make_unique<aws::AwsClient>(web_, aws::AwsEnvironment{.variables = variables},
                                            waiting_clock_);
    provider_ = std::make_unique<AwsProvider>(
        ProviderParts{.policy = policy_, .api = api_, .clock = waiting_clock_, .aws = aws_.get()});
  }
  static aws::XmlElement ec2(const std::string& action, http::Query parameters) {
    const auto answer = moto->ec2(action, std::move(parameters));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(aws::XmlElement{});
  }
  static Ec2Instance seen(const std::string& id) {
    return find_instance(ec2("DescribeInstances", {{"InstanceId.1", id}}), id)
        .value_or(Ec2Instance{});
  }
  // Returns the machine as the kubelet of that instance registers it.
  static Machine machine_of(const std::string& id) {
    const Ec2Instance instance = seen(id);
    Machine machine;
    machine.node = instance.private_dns;
    machine.provider_id = "aws:///" + instance.zone + "/" + id;
    machine.labels = {{"topology.kubernetes.io/zone", instance.zone},
                      {"node.kubernetes.io/instance-type", instance.type}};
    return machine;
  }
  static std::string run_instance(http::Query more = {}) {
    const auto id = moto->run_instance(std::move(more));
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }
  static std::string run_group(const std::string& name, const http::Query& more = {}) {
    const auto id = moto->run_group(name, more);
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }

  inline static std::map<std::string, std::string> rights;
  fakes::FakeClock waiting_clock_{fakes::FakeClock::Mode::kAutoAdvance};
  http::CurlClient web_;
  CurrentPolicy policy_{Policy{}};
  std::unique_ptr<aws::AwsClient> aws_;
  std::unique_ptr<AwsProvider> provider_;
};

}  // namespace gpuward::remediator
