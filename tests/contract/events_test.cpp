#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

class EventsContract : public ContractTest {};
GPUWARD_CONTRACT(EventsContract);

TEST_P(EventsContract, AreFoundByTheUidOfTheirNode) {
  const kube::Node node = make_node();
  const kube::NodeEvent event{own_name(),    node.meta.uid,      true,
                              "NodeTainted", "Xid 79\non GPU 3", "gpuward-remediator"};
  for (int i = 0; i < 2; ++i) {
    const auto created = api().create_event(event);
    ASSERT_TRUE(created) << created.error().message;
  }
  const Json found =
      must("GET",
           "/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3D" + node.meta.uid);
  ASSERT_EQ(found["items"].size(), 2U);
  const Json& first = found["items"][0];
  EXPECT_EQ(first["type"], "Warning");
  EXPECT_EQ(first["reason"], "NodeTainted");
  EXPECT_EQ(first["message"], "Xid 79 on GPU 3");
  EXPECT_EQ(first["involvedObject"]["name"], own_name());
  EXPECT_EQ(first["source"]["component"], "gpuward-remediator");
}

}  // namespace
}  // namespace gpuward::contract
