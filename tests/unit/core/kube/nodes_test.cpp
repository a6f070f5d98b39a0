#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

class NodesTest : public ApiTest {
 protected:
  // The server sends a first page, then finds its token too old, then sends the whole list.
  void list_expires_half_way() {
    client.then(
        answer(200, R"({"metadata":{"continue":"t"},"items":[{"metadata":{"name":"old"}}]})"));
    client.then(failure(410, "Expired"));
    client.then(answer(
        200,
        R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]})"));
  }
};

TEST_F(NodesTest, ReadsTheFieldsThatDecisionsNeed) {
  client.then(answer(
      200, R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"5","labels":{"pool":"a"},
      "creationTimestamp":"2026-11-21T08:00:00Z","deletionTimestamp":"2026-11-21T09:00:00Z"},
      "spec":{"unschedulable":true,"providerID":"aws:///eu-central-1a/i-1","taints":[{"key":"k","effect":"NoSchedule"}]},
      "status":{"nodeInfo":{"bootID":"b1"},"conditions":[{"type":"Ready","status":"True","reason":"r","message":"m"}]}})"));
  const auto node = api.get_node("n1");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->meta.uid, "u1");
  EXPECT_EQ(node->meta.resource_version, "5");
  EXPECT_EQ(node->meta.labels.at("pool"), "a");
  EXPECT_TRUE(node->meta.created);
  EXPECT_TRUE(node->meta.deleting);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_EQ(node->provider_id, "aws:///eu-central-1a/i-1");
  EXPECT_EQ(node->boot_id, "b1");
  ASSERT_EQ(node->taints.size(), 1U);
  EXPECT_EQ(node->taints[0].effect, "NoSchedule");
  ASSERT_EQ(node->conditions.size(), 1U);
  EXPECT_EQ(node->conditions[0].status, "True");
}

TEST_F(NodesTest, SurvivesFieldsOfTheWrongType) {
  client.then(answer(
      200,
      R"({"metadata":{"name":"n1","labels":5,"annotations":{"a":1}},"spec":{"unschedulable":"yes","taints":{}},"status":[]})"));
  const auto node = api.get_node("n1");
  ASSERT_TRUE(node);
  EXPECT_FALSE(node->unschedulable);
}

TEST_F(NodesTest, ReadsTheFirstAddressWithinTheCluster) {
  client.then(answer(
      200, R"({"metadata":{"name":"n1"},"status":{"addresses":[{"type":"Hostname","address":"n1"},
      {"type":"InternalIP","address":"fd00::7"},{"type":"InternalIP","address":"10.0.0.7"}]}})"));
  client.then(answer(200, R"({"metadata":{"name":"n2"},"status":{"addresses":{}}})"));

  EXPECT_EQ(api.get_node("n1")->internal_ip, "fd00::7");
  EXPECT_EQ(api.get_node("n2")->internal_ip, "");
}

TEST_F(NodesTest, AnObjectWithoutANameIsABrokenPeer) {
  client.then(answer(200, "{}"));
  const auto node = api.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kInternal);
}

TEST_F(NodesTest, NeverSendsANameThatIsNone) {
  for (const char* name : {"", "..", "../../pods", "a%2fb", "n1?limit=1"}) {
    EXPECT_EQ(api.get_node(name).error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(api.list_pods_on(name).error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(api.set_node_condition(name, {"T", "True", "R", "m"}).error().kind,
              ErrorKind::kInvalid);
    EXPECT_EQ(api.create_event({name, "u", false, "R", "m", "c"}).error().kind,
              ErrorKind::kInvalid);
  }
  EXPECT_TRUE(client.requests.empty());
}

TEST_F(NodesTest, ReadsListsPageByPage) {
  client.then(answer(
      200,
      R"({"metadata":{"continue":"t/1","resourceVersion":"9"},"items":[{"metadata":{"name":"n1"}}]})"));
  client.then(
      answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"n2"}}]})"));
  const auto nodes = api.list_nodes("pool in (a,b)");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->size(), 2U);
  EXPECT_EQ(url(0),
            "https://api:6443/api/v1/nodes?labelSelector=pool%20in%20%28a%2Cb%29&limit=100");
  EXPECT_EQ(url(1),
            "https://api:6443/api/v1/"
            "nodes?labelSelector=pool%20in%20%28a%2Cb%29&limit=100&continue=t%2F1");
}

TEST_F(NodesTest, AnExpiredPageTokenStartsTheListAgainInOnePiece) {
  list_expires_half_way();
  const auto nodes = api.list_nodes();
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 2U);
  EXPECT_EQ((*nodes)[0].meta.name, "n1");
  EXPECT_EQ(url(2), "https://api:6443/api/v1/nodes");
}

TEST_F(NodesTest, AreVisitedPageByPageAndAnewIfTheListHasExpired) {
  list_expires_half_way();
  std::string seen;
  const auto version = api.visit("/api/v1/nodes", "gpu=yes",
                                 {.on_restart = [&] { seen += "restart "; },
                                  .on_object =
                                      [&](const Json& object) {
                                        seen +=
                                            string_at(member_at(object, "metadata"), "name") + " ";
                                      }});
  EXPECT_EQ(version, "9");
  EXPECT_EQ(seen, "old restart n1 n2 ");
  EXPECT_EQ(url(0), "https://api:6443/api/v1/nodes?labelSelector=gpu%3Dyes&limit=100");
}

TEST_F(NodesTest, AnEmptyListMayHaveNoItemsAtAll) {
  client.then(answer(200, R"({"metadata":{"resourceVersion":"9"},"items":null})"));
  EXPECT_EQ(api.visit("/api/v1/nodes", {}, {}), "9");
}

TEST_F(NodesTest, ChangesANodeByOneMergePatch) {
  client.then(answer(200, node_json("6")));
  Node seen;
  seen.meta.name = "n1";
  seen.meta.uid = "u1";
  seen.meta.resource_version = "5";
  NodeChange change;
  change.unschedulable = true;
  const auto node = api.change_node(seen, change);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->meta.resource_version, "6");
  EXPECT_EQ(client.requests[0].method, "PATCH");
  EXPECT_EQ(client.header(0, "Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(sent(0)["metadata"]["resourceVersion"], "5");
}

TEST_F(NodesTest, LeavesAConflictToTheCaller) {
  client.then(failure(409, "Conflict"));
  Node seen;
  seen.meta = {"n1", "", "u1", "5", {}, {}, {}, false};
  NodeChange change;
  change.unschedulable = true;
  EXPECT_EQ(api.change_node(seen, change).error().kind, ErrorKind::kConflict);
  EXPECT_EQ(client.requests.size(), 1U);
}

TEST_F(NodesTest, RefusesToChangeANodeThatWasNeverRead) {
  Node seen;
  seen.meta.name = "n1";
  NodeChange change;
  change.unschedulable = true;
  EXPECT_EQ(api.change_node(seen, change).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(client.requests.empty());
}

TEST_F(NodesTest, SendsNothingForAChangeThatChangesNothing) {
  Node seen;
  seen.meta = {"n1", "", "u1", "5", {}, {}, {}, false};
  ASSERT_TRUE(api.change_node(seen, {}));
  EXPECT_TRUE(client.requests.empty());
}

std::string with_condition(const std::string& status) {
  return node_json("5", R"(,"status":{"conditions":[{"type":"GPUProblem","status":")" + status +
                            R"(","lastTransitionTime":"2025-01-01T00:00:00Z"}]})");
}

TEST_F(NodesTest, AConditionThatFlipsGetsANewTransitionTime) {
  client.then(answer(200, with_condition("False")));
  client.then(answer(200, node_json()));
  ASSERT_TRUE(api.set_node_condition("n1", {"GPUProblem", "True", "GPUsAreDown", "xid 79"}));
  const Json condition = sent(1)["status"]["conditions"][0];
  EXPECT_EQ(client.requests[1].url, "https://api:6443/api/v1/nodes/n1/status");
  EXPECT_EQ(client.header(1, "Content-Type"), "application/strategic-merge-patch+json");
  EXPECT_EQ(condition["lastTransitionTime"], to_rfc3339(clock.wall()));
  EXPECT_EQ(condition["lastHeartbeatTime"], to_rfc3339(clock.wall()));
}

TEST_F(NodesTest, AConditionThatStaysKeepsItsTransitionTime) {
  client.then(answer(200, with_condition("True")));
  client.then(answer(200, node_json()));
  ASSERT_TRUE(api.set_node_condition("n1", {"GPUProblem", "True", "GPUsAreDown", "xid 79"}));
  EXPECT_EQ(sent(1)["status"]["conditions"][0]["lastTransitionTime"], "2025-01-01T00:00:00Z");
}

}  // namespace
}  // namespace gpuward::kube
