#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/kube/exec_plugin.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/core/kube/plugin_script.h"

namespace gpuward::kube {
namespace {

using std::chrono::seconds;

// The plugin counts its runs. Its token is the number of the run.
class ExecCredentialsTest : public ::testing::Test {
 protected:
  void answer_with(const std::string& more) {
    const std::string runs = (script.folder / "runs").string();
    script.write("echo x >> " + runs + "; n=$(wc -l < " + runs + "); echo '" +
                 credential(R"({"token":"'$n'")" + more + "}") + "'");
  }
  void fail_from_now() { script.write("exit 1"); }
  [[nodiscard]] ClusterConfig config() const {
    ClusterConfig made;
    made.exec = script.plugin();
    return made;
  }
  [[nodiscard]] std::size_t runs() const { return script.read("runs").size() / 2; }

  PluginScript script{"exit 1"};
  fakes::FakeClock clock;
  ExecCredentials credentials{config(), clock};
};

TEST_F(ExecCredentialsTest, AreAskedForOnceAndKept) {
  answer_with("");
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(std::chrono::hours(100));
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecCredentialsTest, AreRenewedThirtySecondsBeforeTheirEnd) {
  answer_with(R"(,"expirationTimestamp":"2026-01-01T00:15:00Z")");  // the clock begins at midnight
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(seconds(15 * 60 - 31));
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(seconds(1));
  EXPECT_EQ(credentials.authorization(), "Bearer 2");
}

TEST_F(ExecCredentialsTest, AShortLifeDoesNotMeanARunForEveryRequest) {
  answer_with(R"(,"expirationTimestamp":"2026-01-01T00:00:20Z")");
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(seconds(9));
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
}

TEST_F(ExecCredentialsTest, AFailedRenewalKeepsWhatStillHolds) {
  answer_with(R"(,"expirationTimestamp":"2026-01-01T00:15:00Z")");
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  fail_from_now();
  clock.advance(seconds(15 * 60 - 10));
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(seconds(10));
  EXPECT_FALSE(credentials.authorization());
}

TEST_F(ExecCredentialsTest, AreRenewedAfterARejection) {
  answer_with("");
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  clock.advance(seconds(10));
  credentials.reject("Bearer 0");  // an older token
  EXPECT_EQ(credentials.authorization(), "Bearer 1");
  credentials.reject("Bearer 1");
  EXPECT_EQ(credentials.authorization(), "Bearer 2");
  credentials.reject("Bearer 2");  // so new that the plugin would return it again
  EXPECT_EQ(credentials.authorization(), "Bearer 2");
}

TEST_F(ExecCredentialsTest, AFailingPluginIsNotRunForEveryRequest) {
  script.write("echo x >> " + (script.folder / "runs").string() + "; exit 1");
  EXPECT_FALSE(credentials.authorization());
  EXPECT_FALSE(credentials.authorization());
  EXPECT_EQ(runs(), 1U);
  clock.advance(seconds(5));
  EXPECT_FALSE(credentials.authorization());
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecCredentialsTest, OneRunServesAllWhoWait) {
  answer_with("");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_EQ(credentials.authorization(), "Bearer 1"); });
  threads.clear();
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecCredentialsTest, MayBeACertificateAlone) {
  script.write("echo '" + credential(R"({"clientCertificateData":"C","clientKeyData":"K"})") + "'");
  EXPECT_EQ(credentials.authorization(), "");
  EXPECT_EQ(credentials.client_certificate()->certificate_pem, "C");
}

}  // namespace
}  // namespace gpuward::kube
