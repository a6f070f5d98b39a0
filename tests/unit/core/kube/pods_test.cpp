#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using PodsTest = ApiTest;

TEST_F(PodsTest, ListsThePodsOfOneNode) {
  client.then(answer(
      200, R"({"metadata":{},"items":[{"metadata":{"name":"p","namespace":"ns","ownerReferences":
      [{"apiVersion":"apps/v1","kind":"DaemonSet","name":"d","uid":"o","controller":true}]},
      "spec":{"nodeName":"n1"},"status":{"phase":"Running"}}]})"));
  const auto pods = api.list_pods_on("n1");
  ASSERT_TRUE(pods);
  EXPECT_EQ(url(0), "https://api:6443/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=100");
  ASSERT_EQ(pods->size(), 1U);
  EXPECT_EQ(pods->front().meta.ns, "ns");
  EXPECT_EQ(pods->front().phase, "Running");
  EXPECT_EQ(pods->front().node_name, "n1");
  ASSERT_EQ(pods->front().owners.size(), 1U);
  EXPECT_TRUE(pods->front().owners[0].controller);
}

TEST_F(PodsTest, ListsThePodsOfOneNodeAsTheServersCacheHasThem) {
  client.then(answer(200, R"({"metadata":{"resourceVersion":"77"},"items":[]})"));
  client.then(answer(200, R"({"metadata":{"resourceVersion":"78"},"items":[]})"));
  const auto first = api.list_pods_on("n1", {.is_cache = true});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->resource_version, "77");
  ASSERT_TRUE(api.list_pods_on("n1", {.is_cache = true, .not_older_than = "77"}));
  const std::string all = "https://api:6443/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
  EXPECT_EQ(url(0), all + "&resourceVersion=0&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(url(1), all + "&resourceVersion=77&resourceVersionMatch=NotOlderThan");
}

TEST_F(PodsTest, AsksTheCacheOnceOnly) {
  client.then(answer(504, R"({"kind":"Status","reason":"Timeout","message":"Too large"})"));
  EXPECT_FALSE(api.list_pods_on("n1", {.is_cache = true, .not_older_than = "99"}));
}

TEST_F(PodsTest, ReadsThePriority) {
  client.then(answer(200, R"({"metadata":{"name":"p"},
      "spec":{"priorityClassName":"system-node-critical","priority":2000001000}})"));
  const auto pod = api.get_pod("ns", "p");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->priority_class, "system-node-critical");
  EXPECT_EQ(pod->priority, 2'000'001'000);
}

TEST_F(PodsTest, EvictsWithUidAndGrace) {
  client.then(answer(201, kStatusSuccess));
  ASSERT_TRUE(api.evict({"ns", "p", "u1", 30}));
  EXPECT_EQ(url(0), "https://api:6443/api/v1/namespaces/ns/pods/p/eviction");
  EXPECT_EQ(
      client.requests[0].body,
      R"({"apiVersion":"policy/v1","deleteOptions":{"gracePeriodSeconds":30,"preconditions":{"uid":"u1"}},)"
      R"("kind":"Eviction","metadata":{"name":"p","namespace":"ns"}})");
}

TEST_F(PodsTest, GivesTheServerTimeForItsOwnTries) {
  client.then(answer(201, kStatusSuccess));
  ASSERT_TRUE(api.evict({"ns", "p", "u1", std::nullopt}));
  EXPECT_GE(client.requests[0].timeout, std::chrono::seconds(30));
}

TEST_F(PodsTest, CanAskOnly) {
  client.then(answer(201, kStatusSuccess));
  ASSERT_TRUE(api.evict({"ns", "p", "u1", std::nullopt, true}));
  EXPECT_EQ(dump_json(sent(0)["deleteOptions"]["dryRun"]), R"(["All"])");
}

TEST_F(PodsTest, AFailureInsideA201IsAFailure) {
  client.then(answer(
      201,
      R"({"kind":"Status","status":"Failure","code":500,"message":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})"));
  EXPECT_EQ(api.evict({"ns", "p", "u1", std::nullopt}).error().kind, ErrorKind::kRefused);
  EXPECT_EQ(client.requests.size(), 1U);
}

TEST_F(PodsTest, RepeatsAnEvictionOnlyIfTheUidGuardsIt) {
  client.then_fail(ErrorKind::kTimeout);
  EXPECT_EQ(api.evict({"ns", "p", "", std::nullopt}).error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(client.requests.size(), 1U);
  client.then_fail(ErrorKind::kTimeout);
  client.then(failure(404, "NotFound"));
  EXPECT_EQ(api.evict({"ns", "p", "u1", std::nullopt}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(client.requests.size(), 3U);
}

TEST_F(PodsTest, IsToldOfAPauseInsteadOfWaitingItOutIfItAsksForEachCall) {
  kube::Eviction eviction{"ns", "p", "u1", std::nullopt};
  eviction.once = true;
  client.then(answer(429, "", {{"Retry-After", "3"}}));
  EXPECT_EQ(api.evict(eviction).error().retry_after, std::chrono::seconds(3));
  clock.advance(std::chrono::seconds(1));
  const auto again = api.evict(eviction);
  EXPECT_EQ(again.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(again.error().retry_after, std::chrono::seconds(2));
  EXPECT_EQ(client.requests.size(), 1U);
  clock.advance(std::chrono::seconds(2));
  client.then_fail(ErrorKind::kTimeout);
  EXPECT_EQ(api.evict(eviction).error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(client.requests.size(), 2U);
}

TEST_F(PodsTest, DeletesWithPreconditions) {
  client.then(answer(200, R"({"metadata":{"name":"p"}})"));
  ASSERT_TRUE(api.delete_pod({"ns", "p", "u1", 1}));
  EXPECT_EQ(client.requests[0].method, "DELETE");
  EXPECT_EQ(sent(0)["preconditions"]["uid"], "u1");
  EXPECT_EQ(sent(0)["gracePeriodSeconds"], 1);
}

}  // namespace
}  // namespace gpuward::kube
