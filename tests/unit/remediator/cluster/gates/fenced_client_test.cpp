#include "remediator/cluster/gates/fenced_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kube/leader_candidate.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class Nobody final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

kube::ApiOptions patient() {
  kube::ApiOptions options;
  options.server = "http://fake";
  return options;
}

http::ClientRequest request_for(const std::string& method) {
  http::ClientRequest request;
  request.method = method;
  request.url = "http://fake/api/v1/nodes/n1";
  return request;
}

class FencedClientTest : public ::testing::Test {
 protected:
  FencedClientTest() {
    kube.create("/api/v1/nodes", fakes::ready_node("n1"));
    kube.clear_requests();
  }
  Result<http::ClientResponse> send(const std::string& method) {
    return fenced.send(request_for(method));
  }
  Result<http::ClientResponse> stream(const std::string& method) {
    return fenced.stream(request_for(method), seconds(1), {}, [](auto) { return true; });
  }
  Result<kube::Node> cordon(bool on = true) {
    kube::NodeChange change;
    change.unschedulable = on;
    return api.change_node(*api.get_node("n1"), change);
  }

  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube{clock};
  fakes::InProcessClient http{kube};
  Nobody credentials;
  bool leads = false;
  FencedClient fenced{http, [this] { return leads; }};
  kube::Api api{patient(), fenced, credentials, clock};
};

TEST_F(FencedClientTest, LetsReadsThroughAlways) {
  ASSERT_TRUE(send("GET"));
  EXPECT_EQ(send("GET")->status, 200);
  EXPECT_TRUE(stream("GET"));
}

TEST_F(FencedClientTest, SendsNothingElseWithoutTheLead) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "get", "HEAD", ""}) {
    const auto refused = send(method);
    ASSERT_FALSE(refused) << method;
    EXPECT_EQ(refused.error().kind, ErrorKind::kCancelled);
    EXPECT_THAT(refused.error().message, HasSubstr("not the leader"));
  }
  EXPECT_FALSE(stream("POST"));
  EXPECT_TRUE(kube.requests().empty());
}

TEST_F(FencedClientTest, AsksAtEachRequest) {
  EXPECT_FALSE(cordon());
  leads = true;
  ASSERT_TRUE(cordon());
  leads = false;
  EXPECT_FALSE(cordon(false));
  EXPECT_EQ(kube.requests("PATCH", "/api/v1/nodes/n1").size(), 1U);
}

TEST_F(FencedClientTest, ARefusalIsNotRepeatedByTheApi) {
  const auto before = clock.steady();
  EXPECT_EQ(cordon().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(clock.steady(), before);
}

// The client does not repeat a write once the lead has ended.
TEST_F(FencedClientTest, ARepeatIsARequestLikeAnyOther) {
  fakes::Fault fault;
  fault.kind = fakes::FaultKind::kUnavailable;
  fault.method = "PATCH";
  fault.times = -1;
  kube.add_fault(fault);
  int asked = 0;
  FencedClient until_second{http, [&asked] { return ++asked < 3; }};
  kube::Api behind{patient(), until_second, credentials, clock};
  kube::NodeChange change;
  change.unschedulable = true;
  const auto changed = behind.change_node(*behind.get_node("n1"), change);
  EXPECT_EQ(changed.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(kube.requests("PATCH", "/api/v1/nodes/n1").size(), 2U);
}

// The process was stopped and continues. The clock kept running meanwhile.
TEST_F(FencedClientTest, ADeposedLeaderWritesNothingWhateverItTries) {
  kube::Api lease_api{patient(), http, credentials, clock};
  kube::LeaderCandidate candidate{
      {.ns = "default", .name = "leader", .identity = "me"}, lease_api, clock};
  FencedClient by_lease{http, [&] { return candidate.is_leader(); }};
  kube::Api work{patient(), by_lease, credentials, clock};
  ASSERT_TRUE(candidate.try_to_lead());
  kube::NodeChange change;
  change.unschedulable = true;
  const auto node = work.get_node("n1");
  kube::Eviction eviction;
  eviction.ns = "default";
  eviction.pod = "p";
  clock.advance(seconds(30));
  EXPECT_FALSE(work.change_node(*node, change));
  EXPECT_FALSE(work.evict(eviction));
  EXPECT_FALSE(work.delete_job("default", "j"));
  EXPECT_FALSE(work.create_job("default", "{}"));
  EXPECT_TRUE(kube.requests("PATCH", "/").empty());
  EXPECT_TRUE(kube.requests("DELETE", "/").empty());
  EXPECT_EQ(kube.requests("POST", "/").size(), 1U);  // the lease
  ASSERT_TRUE(candidate.try_to_lead());
  EXPECT_TRUE(work.change_node(*node, change));
}

}  // namespace
}  // namespace gpuward::remediator
