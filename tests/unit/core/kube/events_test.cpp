#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using EventsTest = ApiTest;

NodeEvent event_on(const std::string& node) {
  return {node, "u1", true, "NodeTainted", "Xid 79\non GPU 3", "gpuward-remediator"};
}

TEST_F(EventsTest, AreFoundByTheRealUidOfTheNode) {
  client.then(answer(201, "{}"));
  ASSERT_TRUE(api.create_event(event_on("n1")));
  EXPECT_EQ(url(0), "https://api:6443/api/v1/namespaces/default/events");
  const Json event = sent(0);
  EXPECT_EQ(event["involvedObject"]["uid"], "u1");
  EXPECT_EQ(event["involvedObject"]["kind"], "Node");
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["message"], "Xid 79 on GPU 3");
  EXPECT_EQ(event["source"]["component"], "gpuward-remediator");
}

TEST_F(EventsTest, ARepeatAfterALostAnswerIsTheSameEvent) {
  client.then_fail(ErrorKind::kTimeout);
  client.then(failure(409, "AlreadyExists"));
  EXPECT_TRUE(api.create_event(event_on("n1")));
  EXPECT_EQ(sent(0)["metadata"]["name"], sent(1)["metadata"]["name"]);
}

TEST_F(EventsTest, TwoEventsHaveTwoNames) {
  client.then(answer(201, "{}"));
  client.then(answer(201, "{}"));
  ASSERT_TRUE(api.create_event(event_on("n1")));
  clock.advance(std::chrono::nanoseconds(1000));
  ASSERT_TRUE(api.create_event(event_on("n1")));
  EXPECT_NE(sent(0)["metadata"]["name"], sent(1)["metadata"]["name"]);
}

TEST_F(EventsTest, KeepTheirNameShortForTheLongestNode) {
  const std::string label(62, 'a');
  const std::string node = label + "." + label + "." + label + "." + label;
  client.then(answer(201, "{}"));
  ASSERT_TRUE(api.create_event(event_on(node)));
  EXPECT_LE(sent(0)["metadata"]["name"].get<std::string>().size(), 253U);
}

TEST_F(EventsTest, CutHugeMessages) {
  client.then(answer(201, "{}"));
  NodeEvent event = event_on("n1");
  event.message = std::string(5000, 'x');
  ASSERT_TRUE(api.create_event(event));
  EXPECT_LE(sent(0)["message"].get<std::string>().size(), 1024U);
}

}  // namespace
}  // namespace gpuward::kube
