#include "remediator/cluster/gates/stop_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using support::wait_until;
using ::testing::HasSubstr;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kSwitch = "/api/v1/namespaces/default/configmaps/switch";

class Anonymous final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

kube::ApiOptions quick() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.request_timeout = options.retry_deadline = kSwitchReadLimit;
  return options;
}

Json switch_saying(const std::string& value) {
  return {{"metadata", {{"name", "switch"}, {"namespace", "default"}}},
          {"data", {{"stop", value}}}};
}

class StopSwitchTest : public ::testing::Test {
 protected:
  void flip(const std::string& value) { kube.patch(kSwitch, {{"data", {{"stop", value}}}}); }
  void fault(fakes::FaultKind kind, int times) {
    fakes::Fault planned;
    planned.kind = kind;
    planned.times = times;
    kube.add_fault(planned);
  }

  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube{clock};
  fakes::InProcessClient http{kube};
  Anonymous credentials;
  kube::Api api{quick(), http, credentials, clock};
  StopSwitch gate{api, {"default", "switch"}};
};

TEST_F(StopSwitchTest, AsksTheServerEachTime) {
  kube.create(kConfigMaps, switch_saying("false"));
  EXPECT_TRUE(gate.permit());
  flip("true");
  EXPECT_EQ(gate.permit().error().kind, ErrorKind::kBlocked);
  flip("false");
  EXPECT_TRUE(gate.permit());
  const auto reads = kube.requests("GET", kSwitch);
  ASSERT_EQ(reads.size(), 3U);
  EXPECT_EQ(reads[0].query, "");  // no resourceVersion: not from the server's cache
}

TEST_F(StopSwitchTest, StopsWithoutAConfigMap) {
  EXPECT_THAT(gate.permit().error().message, HasSubstr("there is no ConfigMap default/switch"));
}

TEST_F(StopSwitchTest, StopsWhenTheServerFailsForLonger) {
  kube.create(kConfigMaps, switch_saying("false"));
  const auto before = clock.steady();
  fault(fakes::FaultKind::kUnavailable, -1);
  EXPECT_THAT(gate.permit().error().message, HasSubstr("cannot be read"));
  EXPECT_LE(clock.steady() - before, kSwitchReadLimit);
  kube.clear_faults();
  EXPECT_TRUE(gate.permit());
}

TEST_F(StopSwitchTest, StopsIfItMayNotRead) {
  kube.create(kConfigMaps, switch_saying("false"));
  fault(fakes::FaultKind::kForbidden, 1);
  EXPECT_EQ(gate.permit().error().kind, ErrorKind::kBlocked);
}

TEST_F(StopSwitchTest, SurvivesOneAnswerThatWasLost) {
  kube.create(kConfigMaps, switch_saying("false"));
  fault(fakes::FaultKind::kDropAfter, 1);
  EXPECT_TRUE(gate.permit());
}

// Counts the requests, and holds each until the test releases it.
class HeldClient final : public http::Client {
 public:
  explicit HeldClient(http::Client& behind) : behind_(behind) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    auto response = behind_.send(request);  // the state at the time of the request
    ++begun;
    turn_.acquire();
    return response;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest& request, milliseconds idle,
                                      std::stop_token stop,
                                      const std::function<bool(std::string_view)>& on) override {
    return behind_.stream(request, idle, stop, on);
  }
  void let_go(int count = 1) { turn_.release(count); }
  std::atomic<int> begun{0};

 private:
  http::Client& behind_;
  std::counting_semaphore<> turn_{0};
};

class SharedReads : public StopSwitchTest {
 protected:
  void ask(int times = 1) {
    for (int i = 0; i < times; ++i) {
      askers.emplace_back([this] {
        const bool goes = shared.permit().has_value();
        ++(goes ? went : stopped);
      });
    }
  }
  [[nodiscard]] ::testing::AssertionResult reads_begin(int count) {
    return wait_until([&] { return held.begun == count; }, "a read");
  }
  [[nodiscard]] ::testing::AssertionResult answered(int count) {
    return wait_until([&] { return went + stopped == count; }, "the answers");
  }

  HeldClient held{http};
  kube::Api held_api{quick(), held, credentials, clock};
  StopSwitch shared{held_api, {"default", "switch"}};
  std::atomic<int> went{0}, stopped{0};
  std::vector<std::jthread> askers;
};

TEST_F(SharedReads, NobodyGetsAnAnswerThatBeganBeforeTheQuestion) {
  kube.create(kConfigMaps, switch_saying("false"));
  ask();
  ASSERT_TRUE(reads_begin(1));
  flip("true");  // the writer has its 200, the first read is still under way
  ask(4);
  held.let_go();
  ASSERT_TRUE(answered(1));
  EXPECT_EQ(went, 1);  // asked before the flip
  held.let_go(4);
  ASSERT_TRUE(answered(5));
  EXPECT_EQ(stopped, 4);
}

TEST_F(SharedReads, OneReadServesAllWhoAskedBeforeItBegan) {
  kube.create(kConfigMaps, switch_saying("false"));
  ask();
  ASSERT_TRUE(reads_begin(1));
  ask(40);
  ASSERT_TRUE(wait_until([&] { return shared.waiting() == 40; }, "all to ask"));
  held.let_go(1'000);
  ASSERT_TRUE(answered(41));
  EXPECT_EQ(went, 41);
  EXPECT_EQ(held.begun, 2);
}

TEST_F(SharedReads, AReadThatFailsStopsAllWhoWaitForIt) {
  ask(3);  // there is no ConfigMap
  held.let_go(1'000);
  ASSERT_TRUE(answered(3));
  EXPECT_EQ(stopped, 3);
}

// Many threads ask all the time while an operator flips the switch. A thread that asks after the
// answer to the write never gets a permit, until the operator flips the switch back.
TEST_F(StopSwitchTest, NoGoAfterTheFlipWasAnswered) {
  kube.create(kConfigMaps, switch_saying("false"));
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> flipped{false};
    std::atomic<int> went_too_late{0}, refused{0};
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        while (refused < 50) {
          const bool after = flipped;
          const bool goes = gate.permit().has_value();
          if (after && goes) ++went_too_late;
          if (!goes) ++refused;
        }
      });
    }
    flip("true");
    flipped = true;
    workers.clear();
    EXPECT_EQ(went_too_late, 0);
    flip("false");
  }
}

}  // namespace
}  // namespace gpuward::remediator
