#include "core/kube/update_node.h"

#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

class UpdateNodeTest : public ApiTest {
 protected:
  static std::optional<NodeChange> cordon(const Node& node) {
    if (node.unschedulable) return std::nullopt;
    NodeChange change;
    change.unschedulable = true;
    return change;
  }
};

TEST_F(UpdateNodeTest, DecidesAgainOnTheFreshNodeAfterAConflict) {
  client.then(answer(200, node_json("5")));
  client.then(failure(409, "Conflict"));
  client.then(answer(200, node_json("6")));
  client.then(answer(200, node_json("7")));
  const auto node = update_node(api, {"n1", "u1"}, cordon, clock);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->meta.resource_version, "7");
  EXPECT_EQ(sent(1)["metadata"]["resourceVersion"], "5");
  EXPECT_EQ(sent(3)["metadata"]["resourceVersion"], "6");
}

TEST_F(UpdateNodeTest, GivesUpAfterTenConflicts) {
  for (int i = 0; i < 20; ++i) {
    client.then(answer(200, node_json("5")));
    client.then(failure(409, "Conflict"));
  }
  const auto began = clock.steady();
  const auto node = update_node(api, {"n1", "u1"}, cordon, clock);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(client.requests.size(), 20U);
  EXPECT_LT(clock.steady() - began, std::chrono::seconds(20));
}

TEST_F(UpdateNodeTest, StopsAtANodeThatIsAnotherByNow) {
  client.then(answer(200, node_json("5")));
  const auto node = update_node(api, {"n1", "another"}, cordon, clock);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kGone);
  EXPECT_EQ(client.requests.size(), 1U);
}

TEST_F(UpdateNodeTest, WritesNothingIfNothingIsToChange) {
  client.then(answer(200, node_json("5", R"(,"spec":{"unschedulable":true})")));
  ASSERT_TRUE(update_node(api, {"n1", ""}, cordon, clock));
  client.then(answer(200, node_json("5")));
  ASSERT_TRUE(update_node(api, {"n1", ""}, [](const Node&) { return NodeChange(); }, clock));
  EXPECT_EQ(client.requests.size(), 2U);
}

TEST_F(UpdateNodeTest, StopsWhenToldTo) {
  std::stop_source stop;
  stop.request_stop();
  client.then(answer(200, node_json("5")));
  client.then(failure(409, "Conflict"));
  EXPECT_EQ(update_node(api, {"n1", "u1"}, cordon, clock, stop.get_token()).error().kind,
            ErrorKind::kCancelled);
}

TEST_F(UpdateNodeTest, AfterALostAnswerFindsItsOwnWrite) {
  client.then(answer(200, node_json("5")));
  client.then_fail(ErrorKind::kTimeout);  // the server has applied it
  client.then(failure(409, "Conflict"));  // so the repeat meets its own version
  client.then(answer(200, node_json("6", R"(,"spec":{"unschedulable":true})")));
  const auto node = update_node(api, {"n1", "u1"}, cordon, clock);
  ASSERT_TRUE(node);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_EQ(client.unused(), 0U);
}

}  // namespace
}  // namespace gpuward::kube
