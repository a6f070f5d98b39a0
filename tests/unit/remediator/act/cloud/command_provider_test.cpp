#include "remediator/act/cloud/command_provider.h"

#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/support/permits.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/act/drain/drain_cluster.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

kube::ApiOptions anywhere() {
  kube::ApiOptions options;
  options.server = "http://fake";
  return options;
}

class CommandProviderTest : public ::testing::Test {
 protected:
  // Uses a program that runs `script`; its stdin is kept in the folder.
  void use(const std::string& script,
           std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    Policy wanted;
    wanted.machines.reboot = {"/bin/sh", "-c", "cat > " + input() + "; " + script, "power-cycle"};
    wanted.machines.timeout = timeout;
    policy.set(wanted);
  }
  [[nodiscard]] std::string input() const { return (folder.path() / "input").string(); }
  static Machine machine() {
    return {.remediation = "gpu-01-ab-1",
            .node = "gpu-01",
            .node_uid = "uid-1",
            .provider_id = "aws:///a/i-1",
            .boot_id = "boot-1",
            .labels = {{"pool", "a"}}};
  }
  Status reboot() { return provider.reboot(machine(), support::given); }

  support::TempDir folder;
  SystemClock clock;
  CurrentPolicy policy{Policy{}};
  fakes::FakeKube kube{clock};
  fakes::InProcessClient http{kube};
  OpenCredentials credentials;
  kube::Api api{anywhere(), http, credentials, clock};
  CommandProvider provider{ProviderParts{.policy = policy, .api = api, .clock = clock}};
};

TEST_F(CommandProviderTest, CallsNoProgramWithoutLeave) {
  use("exit 0");

  EXPECT_EQ(provider.reboot(machine(), support::refused).error().kind, ErrorKind::kBlocked);

  EXPECT_FALSE(read_file(input(), 4096)) << "it was called";
}

TEST_F(CommandProviderTest, TellsTheProgramWhichMachineOnItsStdin) {
  use("exit 0");

  ASSERT_TRUE(reboot());

  const auto told = parse_json(*read_file(input(), 4096));
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, Json({{"action", "reboot"},
                         {"remediation", "gpu-01-ab-1"},
                         {"node", "gpu-01"},
                         {"nodeUID", "uid-1"},
                         {"providerID", "aws:///a/i-1"},
                         {"bootID", "boot-1"},
                         {"labels", {{"pool", "a"}}}}));
}

TEST_F(CommandProviderTest, SaysWhyTheProgramHasRefused) {
  use("echo 'no such chassis' >&2; echo 'more' >&2; exit 3");

  const auto asked = reboot();

  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(asked.error().message, HasSubstr("ended with 3: no such chassis"));
}

// The program may have done its work before it was killed, so gpuward must not repeat the step.
TEST_F(CommandProviderTest, DoesNotKnowWhatAProgramHasDoneThatWasKilled) {
  use("sleep 60", std::chrono::milliseconds(200));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
  use("kill -9 $$");
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
  use("yes");
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
}

TEST_F(CommandProviderTest, EndsAMachineAndAsksWhetherItIsGone) {
  Policy wanted;
  wanted.machines.terminate = {"/bin/sh", "-c", "cat > " + input(), "end"};
  policy.set(wanted);
  ASSERT_TRUE(provider.terminate(machine(), support::given));
  EXPECT_EQ(parse_json(*read_file(input(), 4096))->at("action"), "terminate");
  EXPECT_EQ(provider.fate(machine()).error().kind, ErrorKind::kNotFound);

  const auto answers = [&](const std::string& script) {
    wanted.machines.is_gone = {"/bin/sh", "-c", "cat > " + input() + "; " + script, "gone"};
    policy.set(wanted);
    return provider.fate(machine());
  };
  EXPECT_EQ(answers("exit 1").value(), Fate::kEnding);
  EXPECT_EQ(answers("exit 0").value(), Fate::kGone);
  EXPECT_EQ(parse_json(*read_file(input(), 4096))->at("action"), "is-gone");
  EXPECT_EQ(answers("echo 'no credentials' >&2; exit 2").error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(answers("echo 'no credentials' >&2; exit 2").error().message,
              HasSubstr("no credentials"));
}

// gpuward terminates no machine behind the back of its owner in the cluster.
TEST_F(CommandProviderTest, IsNotAskedToEndWhatANodeClaimOwns) {
  Policy wanted;
  wanted.machines.terminate = wanted.machines.is_gone = {"/bin/true"};
  policy.set(wanted);
  const auto all = make_providers({.policy = policy, .api = api, .clock = clock});
  Machine owned = machine();
  owned.owner = parse_owner("karpenter.sh/v1/nodeclaims//claim-1");

  EXPECT_TRUE(all->terminate(machine(), support::given));
  EXPECT_EQ(all->fate(machine()).value(), Fate::kGone);
  EXPECT_EQ(all->terminate(owned, support::given).error().kind, ErrorKind::kRefused);
  EXPECT_THAT(all->terminate(owned, support::given).error().message,
              HasSubstr("NodeClaim claim-1"));
}

TEST_F(CommandProviderTest, IsTheOneWhoRestartsMachinesIfThereIsAProgram) {
  const auto all = make_providers({.policy = policy, .api = api, .clock = clock});
  EXPECT_THAT(all->reboot(machine(), support::given).error().message, HasSubstr("machines.reboot"));
  EXPECT_THAT(all->terminate(machine(), support::given).error().message,
              HasSubstr("would register it again"));
  use("exit 0");
  EXPECT_TRUE(all->reboot(machine(), support::given));
}

TEST_F(CommandProviderTest, NamesAProgramThatIsNotThere) {
  Policy wanted;
  wanted.machines.reboot = {"/nowhere/power-cycle"};
  policy.set(wanted);

  EXPECT_EQ(reboot().error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(reboot().error().message, HasSubstr("/nowhere/power-cycle"));
}

// A script that fails tells nothing about the power state.
TEST_F(CommandProviderTest, TakesNothingButAWordForThePowerState) {
  const auto sign_of = [&](const std::string& script) {
    Policy wanted;
    wanted.machines.power_state = {"/bin/sh", "-c", "cat > " + input() + "; " + script, "power"};
    policy.set(wanted);
    const auto proofs = provider.proofs(machine());
    return proofs.size() == 1 ? proofs[0] : MachineProof();
  };
  EXPECT_EQ(sign_of("echo on").sign, ProofSign::kUp);
  EXPECT_EQ(sign_of("echo off").sign, ProofSign::kDown);
  EXPECT_TRUE(sign_of("echo off").is_off);
  EXPECT_EQ(sign_of("echo unreachable").sign, ProofSign::kDown);
  EXPECT_FALSE(sign_of("echo unreachable").is_off);
  for (const std::string script : {"echo off; exit 1", "exit 0", "echo Chassis is off", "kill $$"})
    EXPECT_EQ(sign_of(script).sign, ProofSign::kUnknown) << script;
  const auto told = parse_json(*read_file(input(), 4096));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->at("action"), "power-state");
  policy.set(Policy());
  EXPECT_TRUE(provider.proofs(machine()).empty());
}

}  // namespace
}  // namespace gpuward::remediator
