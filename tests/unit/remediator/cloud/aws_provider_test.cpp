// The AWS provider on moto, which others have written: EC2 and Auto Scaling in memory, signatures
// and rights checked.
#include "remediator/cloud/aws_provider.h"

#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/support/on_moto.h"
#include "tests/support/permits.h"
#include "tests/unit/remediator/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

// The actions of the policy that is shipped.
std::vector<std::string> shipped_actions() {
  const auto text = read_file(GPUWARD_SOURCE_DIR "/manifests/remediator-aws-iam.json");
  const auto json = text ? parse_json(*text) : fail(ErrorKind::kNotFound, "no policy");
  std::vector<std::string> actions;
  if (!json) return actions;
  for (const Json& statement : json->at("Statement")) {
    for (const Json& action : statement.at("Action")) actions.push_back(action.get<std::string>());
  }
  return actions;
}

// moto knows neither ARNs nor conditions.
std::string allowing(const std::vector<std::string>& actions) {
  const Json statement = {{"Effect", "Allow"}, {"Resource", "*"}, {"Action", actions}};
  return dump_json({{"Version", "2012-10-17"}, {"Statement", Json::array({statement})}});
}

class AwsProviderTest : public support::OnMoto<DrainCluster> {
 protected:
  static void SetUpTestSuite() {
    OnMoto::SetUpTestSuite();
    if (!moto) return;
    const auto user = moto->add_user("remediator", allowing(shipped_actions()));
    ASSERT_TRUE(user) << user.error().message;
    rights = *user;
  }
  void SetUp() override {
    GPUWARD_REQUIRE(support::Moto::why_unavailable());
    Policy wanted;
    wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = ""};
    policy_.set(wanted);
    use(rights);
  }
  void use(const std::map<std::string, std::string>& variables) {
    aws_ = std::make_unique<aws::AwsClient>(web_, aws::AwsEnvironment{.variables = variables},
                                            system_clock_);
    provider_ = std::make_unique<AwsProvider>(
        ProviderParts{.policy = policy_, .api = api_, .clock = system_clock_, .aws = aws_.get()});
  }
  static aws::XmlElement ec2(const std::string& action, http::Query parameters) {
    const auto answer = moto->admin().query({.service = aws::kEc2,
                                             .action = action,
                                             .version = "2016-11-15",
                                             .parameters = std::move(parameters)});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(aws::XmlElement{});
  }
  static Ec2Instance seen(const std::string& id) {
    return find_instance(ec2("DescribeInstances", {{"InstanceId.1", id}}), id)
        .value_or(Ec2Instance{});
  }
  // As the kubelet of that instance registers it.
  static Machine machine_of(const std::string& id) {
    const Ec2Instance instance = seen(id);
    Machine machine;
    machine.node = instance.private_dns;
    machine.provider_id = "aws:///" + instance.zone + "/" + id;
    machine.labels = {{"topology.kubernetes.io/zone", instance.zone},
                      {"node.kubernetes.io/instance-type", instance.type}};
    return machine;
  }
  static std::string run_instance() {
    const auto id = moto->run_instance();
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }
  static std::string run_group(const std::string& name) {
    const auto id = moto->run_group(name);
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }

  inline static std::map<std::string, std::string> rights;
  SystemClock system_clock_;
  http::CurlClient web_;
  CurrentPolicy policy_{Policy{}};
  std::unique_ptr<aws::AwsClient> aws_;
  std::unique_ptr<AwsProvider> provider_;
};

TEST_F(AwsProviderTest, EndsAnInstanceOfItsOwnThroughEc2) {
  const std::string id = run_instance();
  const Machine machine = machine_of(id);
  EXPECT_EQ(provider_->fate(machine), Fate::kRuns);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(seen(id).state, "terminated");
  EXPECT_EQ(provider_->fate(machine), Fate::kGone);
  EXPECT_TRUE(provider_->terminate(machine, support::given)) << "gone already is a success";
}

TEST_F(AwsProviderTest, EndsAMemberOfAGroupThroughItsGroupWhichMakesAnother) {
  const std::string id = run_group("gpu");
  const Machine machine = machine_of(id);
  EXPECT_EQ(provider_->fate(machine), Fate::kRuns);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(provider_->fate(machine), Fate::kGone);
  const auto now = moto->members_of("gpu");
  ASSERT_EQ(now.size(), 1U) << "the group has lost its member and got no other";
  EXPECT_NE(now[0], id);
}

TEST_F(AwsProviderTest, RestartsARunningInstance) {
  const std::string id = run_instance();
  const auto asked = provider_->reboot(machine_of(id), support::given);
  EXPECT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(seen(id).state, "running");
  ec2("StopInstances", {{"InstanceId.1", id}});
  EXPECT_EQ(provider_->reboot(machine_of(id), support::given).error().kind, ErrorKind::kRefused);
}

TEST_F(AwsProviderTest, TerminationProtectionIsNeverTakenAway) {
  for (const std::string& id : {run_instance(), run_group("protected")}) {
    ec2("ModifyInstanceAttribute", {{"InstanceId", id}, {"DisableApiTermination.Value", "true"}});
    const auto asked = provider_->terminate(machine_of(id), support::given);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().kind, ErrorKind::kRefused);
    EXPECT_THAT(asked.error().message, HasSubstr("instance " + id + " has termination protection"));
    EXPECT_EQ(seen(id).state, "running");
    EXPECT_EQ(provider_->fate(machine_of(id)), Fate::kRuns);
  }
}

TEST_F(AwsProviderTest, AnotherMachineThanTheNodesIsLeftAlone) {
  const std::string id = run_instance();
  Machine machine = machine_of(id);
  machine.node = "gpu-1";
  EXPECT_EQ(provider_->terminate(machine, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(provider_->reboot(machine, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(seen(id).state, "running");

  ec2("CreateTags",
      {{"ResourceId.1", id}, {"Tag.1.Key", "kubernetes.io/cluster/gpu"}, {"Tag.1.Value", "owned"}});
  Policy wanted;
  wanted.machines.aws = {.reboot = true, .terminate = true, .cluster = "gpu"};
  policy_.set(wanted);
  const auto asked = provider_->terminate(machine, support::given);
  EXPECT_TRUE(asked) << asked.error().message;
}

TEST_F(AwsProviderTest, WhatAwsHasNeverKnownIsNotTakenForGone) {
  Machine machine;
  machine.node = "gpu-1";
  machine.provider_id = "aws:///us-east-1a/i-00000000000000000";
  EXPECT_EQ(provider_->terminate(machine, support::given).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(provider_->fate(machine).error().kind, ErrorKind::kNotFound);
}

TEST_F(AwsProviderTest, WrongKeysAreOneClearErrorAndNothingIsDone) {
  const Machine machine = machine_of(run_instance());
  auto wrong = rights;
  wrong["AWS_SECRET_ACCESS_KEY"] = "wrong";
  use(wrong);
  const auto asked = provider_->terminate(machine, support::given);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_THAT(asked.error().message, HasSubstr("EC2 DescribeInstances: AuthFailure: "));
  wrong["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
  use(wrong);
  EXPECT_TRUE(is_not_now(provider_->terminate(machine, support::given).error().kind));
}

// Each right of the policy that is shipped is needed: without it one deed names it.
TEST_F(AwsProviderTest, EachRightOfTheShippedPolicyIsNeeded) {
  const std::vector<std::string> actions = shipped_actions();
  ASSERT_EQ(actions.size(), 7U);
  for (std::size_t left_out = 0; left_out < actions.size(); ++left_out) {
    std::vector<std::string> others = actions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const auto user = moto->add_user("without-" + std::to_string(left_out), allowing(others));
    ASSERT_TRUE(user) << user.error().message;
    use(*user);
    const std::string alone = run_instance();
    const std::string member = run_group("without-" + std::to_string(left_out));
    std::string said;
    for (const auto& done : {provider_->reboot(machine_of(alone), support::given),
                             provider_->terminate(machine_of(alone), support::given),
                             provider_->terminate(machine_of(member), support::given)}) {
      if (!done) said += done.error().message + "\n";
    }
    for (const MachineProof& proof : provider_->proofs(machine_of(run_instance())))
      said += proof.words + "\n";
    EXPECT_THAT(said, HasSubstr("is not authorized to perform: " + actions[left_out]));
  }
}

TEST_F(AwsProviderTest, SaysOfAnInstanceThatRunsThatItIsUp) {
  const auto proofs = provider_->proofs(machine_of(run_instance()));
  ASSERT_EQ(proofs.size(), 1U);
  EXPECT_EQ(proofs[0].sign, ProofSign::kUp) << proofs[0].words;
}

TEST_F(AwsProviderTest, SaysOfAnInstanceThatWasStoppedThatItIsOff) {
  const std::string id = run_instance();
  const Machine machine = machine_of(id);
  ec2("StopInstances", {{"InstanceId.1", id}});
  const auto proofs = provider_->proofs(machine);
  ASSERT_EQ(proofs.size(), 1U);
  EXPECT_EQ(proofs[0].sign, ProofSign::kDown) << proofs[0].words;
  EXPECT_TRUE(proofs[0].is_off);
}

}  // namespace
}  // namespace gpuward::remediator
