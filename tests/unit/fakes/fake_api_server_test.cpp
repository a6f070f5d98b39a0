#include "tests/fakes/fake_api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/runtime/files.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::fakes {
namespace {

using support::http_get;
using support::http_post;

class FakeApiServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = FakeApiServer::start(clock_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  SystemClock clock_;
  std::unique_ptr<FakeApiServer> server_;
};

TEST_F(FakeApiServerTest, CarriesSixtyFourWatchesAtOnce) {
  constexpr std::size_t kWatches = 64;
  constexpr std::size_t kNodes = 20;
  std::atomic<std::size_t> open = 0, complete = 0;
  const std::string since = std::to_string(server_->kube().revision());
  http::CurlClient client;
  std::vector<std::jthread> watchers;
  for (std::size_t i = 0; i < kWatches; ++i) {
    watchers.emplace_back([&](const std::stop_token& stop) {
      http::ClientRequest request;
      request.url = server_->url() +
                    "/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=" + since;
      std::string text;
      bool counted = false;
      (void)client.stream(request, support::kGenerous, stop, [&](std::string_view bytes) {
        if (!counted) ++open;
        counted = true;
        text += bytes;
        std::size_t added = 0;
        for (auto at = text.find("ADDED"); at != std::string::npos; at = text.find("ADDED", at + 1))
          ++added;
        if (added < kNodes) return true;
        ++complete;
        return false;
      });
    });
  }
  // Each watch has had its first bookmark, so it runs.
  ASSERT_TRUE(support::wait_until([&] { return open == kWatches; }, "all watches run"));

  for (std::size_t i = 0; i < kNodes; ++i) {
    server_->kube().create("/api/v1/nodes", ready_node("n" + std::to_string(i)));
  }

  EXPECT_TRUE(
      support::wait_until([&] { return complete == kWatches; }, "all watches have seen all nodes"));
}

TEST_F(FakeApiServerTest, EndsItsWatchesWhenItGoes) {
  http::ClientRequest request;
  request.url = server_->url() + "/api/v1/nodes?watch=true&allowWatchBookmarks=true";
  std::atomic<bool> runs = false, ended = false;
  std::jthread watcher([&](const std::stop_token& stop) {
    http::CurlClient client;
    // Longer than the test waits: only the server ends the watch.
    (void)client.stream(request, std::chrono::hours(1), stop,
                        [&](std::string_view) { return runs = true; });
    ended = true;
  });
  ASSERT_TRUE(support::wait_until([&] { return runs.load(); }, "the watch runs"));

  server_.reset();

  EXPECT_TRUE(support::wait_until([&] { return ended.load(); }, "the watch ends"));
}

TEST_F(FakeApiServerTest, TakesFaultsOverTheWireAndCountsThem) {
  const auto added = http_post(server_->url() + "/fake/faults",
                               R"({"kind":"unavailable","method":"GET","path":"/api/v1/nodes"})");

  EXPECT_EQ(added.status, 201);
  EXPECT_EQ(http_get(server_->url() + "/api/v1/nodes").status, 503);
  EXPECT_EQ(http_get(server_->url() + "/api/v1/nodes").status, 200);
  EXPECT_THAT(http_get(server_->url() + "/fake/faults").body, ::testing::HasSubstr("\"hits\":1"));
}

TEST_F(FakeApiServerTest, RefusesAFaultThatItDoesNotKnow) {
  EXPECT_EQ(http_post(server_->url() + "/fake/faults", R"({"kind":"nonsense"})").status, 400);
  EXPECT_EQ(http_post(server_->url() + "/fake/faults", R"({"kind":"conflict","path":"("})").status,
            400);
  EXPECT_EQ(http_post(server_->url() + "/fake/faults", "{").status, 400);
}

TEST_F(FakeApiServerTest, BreaksTheConnectionIfTheAnswerIsLost) {
  server_->kube().add_fault({.kind = FaultKind::kDropAfter, .path = "/version"});

  EXPECT_EQ(http_get(server_->url() + "/version").status, 0);
  EXPECT_EQ(http_get(server_->url() + "/version").status, 200);
}

TEST(FakeApiServerProgram, SaysWhereItIsAndStopsOnSigterm) {
  const support::TempDir folder;
  const std::string kubeconfig = (folder / "kubeconfig").string();
  const auto program =
      support::Process::spawn({.argv = {GPUWARD_BIN_DIR "/gpuward-fake-apiserver", "--kubeconfig",
                                        kubeconfig, "--node", "n1"}});
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(support::wait_until([&] { return (*program)->output().ends_with('\n'); },
                                  "it prints its URL"));
  std::string url = (*program)->output();
  url.pop_back();

  EXPECT_EQ(http_get(url + "/api/v1/nodes/n1").status, 200);
  EXPECT_THAT(read_file(kubeconfig).value(), ::testing::HasSubstr(url));
  EXPECT_EQ((*program)->stop(), 0);
}

TEST(FakeApiServerProgram, RefusesArgumentsThatItDoesNotKnow) {
  const auto outcome =
      support::Process::run({.argv = {GPUWARD_BIN_DIR "/gpuward-fake-apiserver", "--nonsense"}});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 2);
  EXPECT_THAT(outcome->error_output, ::testing::HasSubstr("--nonsense"));
}

}  // namespace
}  // namespace gpuward::fakes
