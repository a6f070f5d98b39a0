#include "core/kube/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/environment.h"
#include "tests/support/is_gone.h"
#include "tests/support/wait.h"
#include "tests/unit/core/kube/plugin_script.h"

namespace gpuward::kube {
namespace {

using support::Environment;
using ::testing::HasSubstr;

class ExecPluginTest : public ::testing::Test {
 protected:
  Result<ExecCredential> run(const PluginScript& /*alive*/, const ExecPlugin& plugin) {
    return run_exec_plugin(config, plugin, clock);
  }
  ClusterConfig config;
  SystemClock clock;
};

TEST_F(ExecPluginTest, GivesATokenWithItsEnd) {
  PluginScript script(
      "echo '" + credential(R"({"token":"t","expirationTimestamp":"2026-11-21T08:00:00Z"})") + "'");
  const auto answer = run(script, script.plugin());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->token, "t");
  EXPECT_EQ(answer->expires, parse_rfc3339("2026-11-21T08:00:00Z"));
}

TEST_F(ExecPluginTest, IsToldWhatTheServerIs) {
  PluginScript script(
      "printf '%s|%s|%s' \"$KUBERNETES_EXEC_INFO\" \"$MINE\" \"$1\" > \"$OUT\"; echo '" +
      credential(R"({"token":"t"})") + "'");
  ExecPlugin plugin = script.plugin();
  plugin.args = {"a b; $(c)"};
  plugin.env = {{"MINE", "yes"}, {"OUT", (script.folder / "out").string()}};
  plugin.provide_cluster_info = true;
  config.server = "https://k";
  config.tls.ca_pem = "CA";
  ASSERT_TRUE(run(script, plugin));
  EXPECT_EQ(
      script.read("out"),
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
      R"({"cluster":{"certificate-authority-data":"Q0E=","server":"https://k"},"interactive":false}}|yes|a b; $(c))");
}

TEST_F(ExecPluginTest, InheritsOurEnvironmentWithItsOwnOnTop) {
  const Environment inherited("GPUWARD_TEST_INHERITED", "theirs");
  const Environment replaced("GPUWARD_TEST_REPLACED", "ours");
  PluginScript script(
      R"([ "$GPUWARD_TEST_INHERITED$GPUWARD_TEST_REPLACED" = theirsplugin ] && echo ')" +
      credential(R"({"token":"t"})") + "'");
  ExecPlugin plugin = script.plugin();
  plugin.env = {{"GPUWARD_TEST_REPLACED", "plugin"}};
  EXPECT_TRUE(run(script, plugin));
}

TEST_F(ExecPluginTest, GetsFreshSignalsAndNoTerminal) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  PluginScript script("kill -TERM $$; echo '" + credential(R"({"token":"survived"})") + "'");
  const auto answer = run(script, script.plugin());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("signal 15"));
}

TEST_F(ExecPluginTest, SaysWhyItFailedWithoutItsAnswer) {
  PluginScript script("echo s3cr3t; echo 'Unable to locate credentials' >&2; exit 3");
  const auto answer = run(script, script.plugin());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("ended with 3"), HasSubstr("Unable to locate")));
  EXPECT_EQ(answer.error().message.find("s3cr3t"), std::string::npos);
}

TEST_F(ExecPluginTest, SaysHowToGetAPluginThatIsNotThere) {
  ExecPlugin plugin;
  plugin.command = "gpuward-no-such-plugin";
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.install_hint = "pip install it";
  const auto answer = run_exec_plugin(config, plugin, clock);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(answer.error().message, HasSubstr("pip install it"));
}

TEST_F(ExecPluginTest, IsKilledWithItsChildrenAtItsDeadline) {
  PluginScript script("sleep 1000 & echo $! > \"$OUT.tmp\"; mv \"$OUT.tmp\" \"$OUT\"; wait");
  ExecPlugin plugin = script.plugin();
  plugin.env = {{"OUT", (script.folder / "pid").string()}};
  fakes::FakeClock fake;
  std::optional<Result<ExecCredential>> answer;
  std::jthread runner([&] { answer = run_exec_plugin(config, plugin, fake); });
  ASSERT_TRUE(support::wait_until([&] { return !script.read("pid").empty(); }, "the plugin runs"));
  fake.advance(kExecTimeout);
  runner.join();
  EXPECT_EQ(answer->error().kind, ErrorKind::kTimeout);
  const pid_t child = std::stoi(script.read("pid"));
  EXPECT_TRUE(support::wait_until([&] { return support::is_gone(child); }, "its child is gone"));
}

TEST_F(ExecPluginTest, IsKilledIfItFloodsUs) {
  PluginScript script("yes");
  const auto answer = run(script, script.plugin());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTooLarge);
}

TEST(ExecCredentialText, IsRefusedUnlessItIsExactlyWhatWasAskedFor) {
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const std::string other =
      R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"s3cr3t"}})";
  for (const std::string& text :
       {other, std::string("s3cr3t"), credential("{}"), credential(R"({"token":"s3cr3t\nX: y"})"),
        credential(R"({"clientCertificateData":"s3cr3t"})"),
        credential(R"({"token":"s3cr3t","expirationTimestamp":"soon"})")}) {
    const auto read = read_exec_credential(text, plugin);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message.find("s3cr3t"), std::string::npos) << read.error().message;
  }
}

TEST(ExecCredentialText, MayBeACertificate) {
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const auto read = read_exec_credential(
      credential(R"({"clientCertificateData":"C","clientKeyData":"K"})"), plugin);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->certificate.certificate_pem, "C");
  EXPECT_EQ(read->certificate.key_pem, "K");
}

}  // namespace
}  // namespace gpuward::kube
