#include "remediator/cloud/command_provider.h"

#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/support/temp_dir.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

class CommandProviderTest : public ::testing::Test {
 protected:
  // A program that does what `script` says; its stdin is kept in the folder.
  void use(const std::string& script,
           std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    Policy wanted;
    wanted.machines.reboot = {"/bin/sh", "-c", "cat > " + input() + "; " + script, "power-cycle"};
    wanted.machines.timeout = timeout;
    policy.set(wanted);
  }
  [[nodiscard]] std::string input() const { return (folder.path() / "input").string(); }
  Status reboot() {
    return provider.reboot({.remediation = "gpu-01-ab-1",
                            .node = "gpu-01",
                            .node_uid = "uid-1",
                            .provider_id = "aws:///a/i-1",
                            .boot_id = "boot-1",
                            .labels = {{"pool", "a"}}});
  }

  support::TempDir folder;
  SystemClock clock;
  CurrentPolicy policy{Policy{}};
  CommandProvider provider{ProviderParts{.policy = policy, .clock = clock}};
};

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

// It may have done its work before: the step must not be tried again.
TEST_F(CommandProviderTest, DoesNotKnowWhatAProgramHasDoneThatWasKilled) {
  use("sleep 60", std::chrono::milliseconds(200));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
  use("kill -9 $$");
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
  use("yes");
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
}

TEST_F(CommandProviderTest, NamesAProgramThatIsNotThere) {
  Policy wanted;
  wanted.machines.reboot = {"/nowhere/power-cycle"};
  policy.set(wanted);

  EXPECT_EQ(reboot().error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(reboot().error().message, HasSubstr("/nowhere/power-cycle"));
}

TEST_F(CommandProviderTest, StandsInTheTableUnderItsName) {
  EXPECT_TRUE(make_provider("command", {.policy = policy, .clock = clock}));
  EXPECT_FALSE(make_provider("no-such-cloud", {.policy = policy, .clock = clock}));
}

}  // namespace
}  // namespace gpuward::remediator
