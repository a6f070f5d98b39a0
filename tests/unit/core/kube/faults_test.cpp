// The client against a server with deliberate faults. The tests check the final state of the
// server.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/informer.h"
#include "core/kube/update_node.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::kube {
namespace {

using fakes::Fault;
using fakes::FaultKind;

constexpr const char* kNode = "/api/v1/nodes/n1";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

class FaultsTest : public ::testing::Test {
 protected:
  FaultsTest() {
    kube.create("/api/v1/nodes", fakes::ready_node("n1"));
    kube.clear_requests();
  }
  static ApiOptions options() {
    ApiOptions made;
    made.server = "http://fake";
    made.jitter_seed = 3;
    return made;
  }
  void meet(FaultKind kind, const std::string& method, const std::string& path, int times = 1) {
    Fault fault;
    fault.kind = kind;
    fault.method = method;
    fault.path = path;
    fault.times = times;
    kube.add_fault(fault);
  }
  static NodeChange quarantine() {
    NodeChange change;
    change.unschedulable = true;
    change.set_taints = {{"gpuward.dev/remediation", "reboot", "NoSchedule", ""}};
    return change;
  }
  Result<Node> update() {
    return update_node(api, {"n1", ""}, [](const Node&) { return quarantine(); }, clock);
  }
  [[nodiscard]] std::size_t sent(const std::string& method, const std::string& path) const {
    return kube.requests(method, path).size();
  }
  std::string make_pod() {
    const Json made = kube.create(kPods, fakes::pod("p", "n1", {{"app", "p"}}));
    kube.patch_status(std::string(kPods) + "/p", fakes::running_status());
    return made["metadata"]["uid"];
  }

  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube{clock};
  fakes::InProcessClient client{kube};
  std::unique_ptr<Credentials> credentials = make_credentials({}, clock);
  Api api{options(), client, *credentials, clock};
};

TEST_F(FaultsTest, APatchWhoseAnswerIsLostIsDoneOnce) {
  meet(FaultKind::kDropAfter, "PATCH", kNode);
  const auto node = update();
  ASSERT_TRUE(node) << node.error().message;
  const Json held = kube.get(kNode);
  EXPECT_EQ(held["spec"]["taints"].size(), 1U);
  EXPECT_TRUE(held["spec"]["unschedulable"]);
}

TEST_F(FaultsTest, AnEndlessConflictEndsAfterTenTries) {
  meet(FaultKind::kConflict, "PATCH", kNode, -1);
  const auto node = update();
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(sent("PATCH", kNode), 10U);
  EXPECT_FALSE(kube.get(kNode)["spec"].contains("taints"));
}

TEST_F(FaultsTest, ABurstOfTroubleIsOutlived) {
  for (const FaultKind kind :
       {FaultKind::kOverloaded, FaultKind::kInternalError, FaultKind::kUnavailable,
        FaultKind::kDropBefore, FaultKind::kConflict, FaultKind::kDropAfter}) {
    meet(kind, "PATCH", kNode);
    meet(kind, "GET", kNode);
  }
  const auto node = update();
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_TRUE(node->unschedulable);
}

TEST_F(FaultsTest, AnEventWhoseAnswerIsLostIsThereOnce) {
  meet(FaultKind::kDropAfter, "POST", ".*/events");
  ASSERT_TRUE(api.create_event({"n1", "u1", true, "NodeTainted", "xid 79", "gpuward"}));
  EXPECT_EQ(kube.get("/api/v1/namespaces/default/events")["items"].size(), 1U);
}

TEST_F(FaultsTest, AnEvictionWhoseAnswerIsLostNeverHitsTheNextPodOfTheName) {
  const std::string uid = make_pod();
  kube.remove(std::string(kPods) + "/p");
  const std::string next = make_pod();
  ASSERT_NE(uid, next);
  EXPECT_EQ(api.evict({"default", "p", uid, std::nullopt}).error().kind, ErrorKind::kConflict);
  meet(FaultKind::kDropAfter, "POST", ".*/eviction");
  EXPECT_TRUE(api.evict({"default", "p", next, std::nullopt}));
  EXPECT_EQ(sent("POST", std::string(kPods) + "/p/eviction"), 3U);
}

TEST_F(FaultsTest, WhatABudgetSaysIsNeverRepeatedByTheClient) {
  const std::string uid = make_pod();
  const auto evicted = [&](FaultKind kind) {
    kube.clear_requests();
    meet(kind, "POST", ".*/eviction");
    const auto status = api.evict({"default", "p", uid, std::nullopt});
    EXPECT_EQ(sent("POST", kPods), 1U);
    return status ? ErrorKind::kInternal : status.error().kind;
  };
  EXPECT_EQ(evicted(FaultKind::kBudget), ErrorKind::kBlocked);
  EXPECT_EQ(evicted(FaultKind::kTwoBudgets), ErrorKind::kRefused);
}

TEST_F(FaultsTest, AFailureInsideA201IsNotTakenForSuccess) {
  const std::string uid = make_pod();
  meet(FaultKind::kFailureInside, "POST", ".*/eviction");
  ASSERT_TRUE(api.evict({"default", "p", uid, std::nullopt}));
  EXPECT_EQ(sent("POST", std::string(kPods) + "/p/eviction"), 2U);
  EXPECT_TRUE(api.get_pod("default", "p")->meta.deleting);
}

TEST_F(FaultsTest, ALeaseWhoseRenewalIsLostIsStillOurs) {
  Lease lease;
  lease.meta.name = "l";
  lease.meta.ns = "default";
  lease.holder = "me";
  lease.duration_seconds = 15;
  auto held = api.create_lease(lease);
  ASSERT_TRUE(held) << held.error().message;
  held->transitions = 1;
  meet(FaultKind::kDropAfter, "PUT", ".*/leases/l");
  EXPECT_EQ(api.update_lease(*held).error().kind, ErrorKind::kConflict);  // it met its own write
  EXPECT_EQ(api.get_lease("default", "l")->transitions, 1);
}

TEST_F(FaultsTest, ATokenThatWasRotatedIsReadAgainAfterA401) {
  const support::TempDir folder;
  ClusterConfig config;
  config.token_file = folder.write("token", "old");
  kube.access().allow_token("old", "gpuward");
  const auto from_file = make_credentials(config, clock);
  Api rotating(options(), client, *from_file, clock);
  ASSERT_TRUE(rotating.get_node("n1"));
  folder.write("token", "new");
  kube.access().revoke_token("old");
  kube.access().allow_token("new", "gpuward");
  EXPECT_TRUE(rotating.get_node("n1"));
}

// Records the nodes that an informer on its own thread has seen.
class InformerFaultsTest : public FaultsTest {
 protected:
  // Ends the first watch at its first event. The list before it succeeds.
  void end_first_watch(FaultKind kind) {
    Fault fault;
    fault.kind = kind;
    fault.path = "/api/v1/nodes";
    fault.skip = 1;
    kube.add_fault(fault);
  }
  void follow() {
    informer_ = std::jthread([this](const std::stop_token& stop) {
      InformerHandlers handlers;
      handlers.on_upsert = [this](const Json& object) { note(decode_node(object)->meta.name); };
      handlers.on_synced = [this](const auto&, const auto&) { note("synced"); };
      Informer(api, clock, "/api/v1/nodes", handlers).run(stop);
    });
  }
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++seen_[what];
  }
  [[nodiscard]] int times(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return seen_[what];
  }
  ::testing::AssertionResult see(const std::string& what, int at_least = 1) {
    return support::wait_until([&] { return times(what) >= at_least; }, what);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> seen_;
  std::jthread informer_;
};

TEST_F(InformerFaultsTest, GoesOnIfAStreamWasCutInTheMiddleOfALine) {
  end_first_watch(FaultKind::kCutStream);
  follow();
  ASSERT_TRUE(see("synced"));
  kube.create("/api/v1/nodes", fakes::ready_node("n2"));
  kube.create("/api/v1/nodes", fakes::ready_node("n3"));
  EXPECT_TRUE(see("n2"));
  EXPECT_TRUE(see("n3"));
  EXPECT_EQ(times("synced"), 1);
}

TEST_F(InformerFaultsTest, ListsAgainIfAStreamExpired) {
  end_first_watch(FaultKind::kExpireStream);
  follow();
  ASSERT_TRUE(see("synced"));
  kube.create("/api/v1/nodes", fakes::ready_node("n2"));
  EXPECT_TRUE(see("n2"));
  EXPECT_TRUE(see("synced", 2));
  kube.create("/api/v1/nodes", fakes::ready_node("n3"));
  EXPECT_TRUE(see("n3"));
}

}  // namespace
}  // namespace gpuward::kube
