// Tests of how the exporter learns which label of its Node requests the GPUs.
#include "exporter/watch/own_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <regex>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using fakes::FaultKind;
using std::chrono::minutes;
using support::wait_until;
using ::testing::HasSubstr;

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kNode = "/api/v1/nodes/gpu-1";
constexpr const char* kDcgmExporter = "nvidia.com/gpu.deploy.dcgm-exporter";

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class OwnNodeTest : public ::testing::Test {
 protected:
  OwnNodeTest() { kube_.create(kNodes, fakes::ready_node("gpu-1")); }

  void start() {
    node_ = std::make_unique<OwnNode>(
        "gpu-1",
        [this](kube::ApiDeadlines, std::stop_token stop) {
          kube::ApiOptions made;
          made.server = "http://fake";
          made.stop = std::move(stop);
          return std::make_unique<kube::Api>(std::move(made), client_, credentials_, clock_);
        },
        clock_, log_);
  }
  void label(const char* key, const Json& value, const char* node = kNode) {
    kube_.patch(node, {{"metadata", {{"labels", {{key, value}}}}}});
  }
  void pause() { label(kDcgmExporter, "paused-for-driver-upgrade"); }
  void go_on() { label(kDcgmExporter, "true"); }
  ::testing::AssertionResult asks() {
    return wait_until([&] { return node_->asking_label().has_value(); }, "a label that asks");
  }
  ::testing::AssertionResult asks_no_more() {
    return wait_until([&] { return !node_->asking_label(); }, "no label that asks");
  }
  std::vector<fakes::LoggedRequest> requests() { return kube_.requests("GET", kNodes); }
  ::testing::AssertionResult has_asked(std::size_t times) {
    return wait_until([&] { return requests().size() == times; }, "another watch");
  }
  ::testing::AssertionResult waits_to_try_again() {
    return wait_until([&] { return clock_.sleepers() == 1; }, "a pause");
  }
  std::string asked(std::size_t number, const std::string& parameter) {
    std::smatch found;
    const std::string query = requests().at(number).query;
    return std::regex_search(query, found, std::regex("\\b" + parameter + "=([^&]*)"))
               ? found[1].str()
               : "";
  }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient client_{kube_};
  NoCredentials credentials_;
  Log log_{LogLevel::kWarn, LogFormat::kLogfmt};
  std::unique_ptr<OwnNode> node_;
};

TEST_F(OwnNodeTest, ReportsALabelThatComesAndGoes) {
  start();
  ASSERT_TRUE(has_asked(1));
  EXPECT_EQ(node_->asking_label(), std::nullopt);
  pause();
  ASSERT_TRUE(asks());
  EXPECT_EQ(node_->asking_label(), std::string(kDcgmExporter) + "=paused-for-driver-upgrade");
  go_on();
  EXPECT_TRUE(asks_no_more());
}

TEST_F(OwnNodeTest, ReportsALabelFromBeforeItsStart) {
  pause();
  start();
  EXPECT_TRUE(asks());
}

TEST_F(OwnNodeTest, HasAnAnswerOnceItsLabelsAreKnown) {
  pause();
  start();
  ASSERT_TRUE(wait_until([&] { return node_->has_answer(); }, "an answer"));
  EXPECT_TRUE(node_->asking_label()) << "known with the answer";
}

TEST_F(OwnNodeTest, HasAnAnswerOnceTheServerHasRefused) {
  std::latch asked(1);
  std::latch may_answer(1);
  kube_.add_fault({.kind = FaultKind::kUnavailable, .on_hit = [&] {
                     asked.count_down();
                     may_answer.wait();
                   }});
  start();
  asked.wait();
  EXPECT_FALSE(node_->has_answer());
  may_answer.count_down();
  EXPECT_TRUE(wait_until([&] { return node_->has_answer(); }, "an answer"));
}

TEST_F(OwnNodeTest, IsNotAnother) {
  kube_.create(kNodes, fakes::ready_node("gpu-2"));
  label(kDcgmExporter, "paused-for-driver-upgrade", "/api/v1/nodes/gpu-2");
  start();
  pause();
  ASSERT_TRUE(asks());
  label(kDcgmExporter, "paused-for-mig-change", "/api/v1/nodes/gpu-2");
  go_on();
  EXPECT_TRUE(asks_no_more());
  EXPECT_EQ(asked(0, "fieldSelector"), "metadata.name%3Dgpu-1");
}

// A whole fleet of exporters sends the server these requests.
TEST_F(OwnNodeTest, IsWatchedForMinutesAndOnFromThereWithoutAPause) {
  pause();
  start();
  ASSERT_TRUE(asks());
  EXPECT_EQ(asked(0, "resourceVersion"), "0");
  for (std::size_t watches = 2; watches < 5; ++watches) {
    const std::string value = "paused-for-" + std::to_string(watches);
    label(kDcgmExporter, value);
    ASSERT_TRUE(wait_until([&] { return node_->asking_label().value_or("").ends_with(value); },
                           "the new value"));
    clock_.advance(minutes(10));
    ASSERT_TRUE(has_asked(watches));
    const int lasts = std::stoi(asked(watches - 1, "timeoutSeconds"));
    EXPECT_GE(lasts, 300);
    EXPECT_LE(lasts, 600);
    EXPECT_TRUE(node_->asking_label());
  }
  EXPECT_NE(asked(3, "resourceVersion"), "0");
}

TEST_F(OwnNodeTest, KeepsWhatItSaidWhileTheServerIsAway) {
  pause();
  start();
  ASSERT_TRUE(asks());
  kube_.add_fault({.kind = FaultKind::kUnavailable, .times = -1});
  clock_.advance(minutes(11));
  for (int tries = 0; tries < 3; ++tries) {
    ASSERT_TRUE(waits_to_try_again());
    EXPECT_TRUE(node_->asking_label());
    clock_.advance(minutes(2));
  }
  ASSERT_TRUE(waits_to_try_again());
  go_on();
  kube_.clear_faults();
  clock_.advance(minutes(2));
  EXPECT_TRUE(asks_no_more());
}

TEST_F(OwnNodeTest, AsksForNothingUntilTheServerHasAnswered) {
  kube_.add_fault({.kind = FaultKind::kUnavailable, .times = -1});
  pause();
  start();
  ASSERT_TRUE(waits_to_try_again());
  EXPECT_EQ(node_->asking_label(), std::nullopt);
  kube_.clear_faults();
  clock_.advance(minutes(2));
  EXPECT_TRUE(asks());
}

TEST_F(OwnNodeTest, IsReadAnewIfTheServerHasForgottenWhatHappened) {
  pause();
  start();
  ASSERT_TRUE(asks());
  kube_.add_fault({.kind = FaultKind::kGone});
  clock_.advance(minutes(11));
  ASSERT_TRUE(waits_to_try_again());
  EXPECT_TRUE(node_->asking_label());
  go_on();
  clock_.advance(minutes(2));
  EXPECT_TRUE(asks_no_more());
  EXPECT_EQ(asked(requests().size() - 1, "resourceVersion"), "0");
}

// A machine may register again in the middle of an upgrade.
TEST_F(OwnNodeTest, KeepsWhatItSaidUntilItIsMadeAgain) {
  pause();
  start();
  ASSERT_TRUE(asks());
  kube_.remove(kNode);
  clock_.advance(minutes(11));
  ASSERT_TRUE(has_asked(2)) << "the first has ended with the Node's end";
  EXPECT_TRUE(node_->asking_label());
  Json again = fakes::ready_node("gpu-1");
  again["metadata"]["labels"] = {{kDcgmExporter, "paused-for-mig-change"}};
  kube_.create(kNodes, again);
  ASSERT_TRUE(wait_until(
      [&] { return node_->asking_label().value_or("").ends_with("paused-for-mig-change"); },
      "the labels of the new Node"));
  kube_.remove(kNode);
  kube_.create(kNodes, fakes::ready_node("gpu-1"));
  EXPECT_TRUE(asks_no_more());
}

// After an upgrade of the exporter under the rights of the earlier version.
TEST_F(OwnNodeTest, SaysOnceThatItMayNotBeWatched) {
  kube_.add_fault({.kind = FaultKind::kForbidden, .times = -1});
  pause();
  testing::internal::CaptureStderr();
  start();
  for (int tries = 0; tries < 5; ++tries) {
    EXPECT_TRUE(waits_to_try_again());
    clock_.advance(minutes(2));
  }
  EXPECT_TRUE(waits_to_try_again());
  EXPECT_EQ(node_->asking_label(), std::nullopt);
  node_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("grant watch on nodes"));
  EXPECT_EQ(log.find("Cannot watch"), log.rfind("Cannot watch")) << log;
}

}  // namespace
}  // namespace gpuward::exporter
