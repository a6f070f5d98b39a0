#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

class AccessContract : public ContractTest {};
GPUWARD_CONTRACT(AccessContract);

TEST_P(AccessContract, AStrangerIsNotAuthenticated) {
  Connection stranger(target(), Role::kStranger);
  const auto node = stranger.api.get_node("n1");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(node.error().message.find("token-of-a-stranger"), std::string::npos);
}

TEST_P(AccessContract, AReaderReadsAndIsRefusedTheRestByVerbAndResource) {
  const kube::Node node = make_node();
  Connection reader(target(), Role::kReader);
  ASSERT_TRUE(reader.api.get_node(own_name()));
  kube::NodeChange change;
  change.unschedulable = true;
  const auto changed = reader.api.change_node(node, change);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(changed.error().message, ::testing::AllOf(::testing::HasSubstr("cannot patch"),
                                                        ::testing::HasSubstr("\"nodes\"")));
  EXPECT_EQ(reader.api.list_pods_on(own_name()).error().kind, ErrorKind::kForbidden);
  EXPECT_EQ(reader.api.get_custom(gadget_type(), "a").error().kind, ErrorKind::kForbidden);
}

TEST_P(AccessContract, AWatchOfAStrangerIsNotAuthenticated) {
  Connection stranger(target(), Role::kStranger);
  const auto ended = stranger.api.watch("/api/v1/nodes", "", {}, [](const kube::WatchEvent&) {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kUnauthenticated);
}

TEST_P(AccessContract, TheServerSaysWhoWeAre) {
  const auto admin = api().who_am_i();
  ASSERT_TRUE(admin) << admin.error().message;
  EXPECT_FALSE(admin->empty());
  Connection reader(target(), Role::kReader);
  EXPECT_NE(*reader.api.who_am_i(), *admin);
  Connection stranger(target(), Role::kStranger);
  EXPECT_EQ(stranger.api.who_am_i().error().kind, ErrorKind::kUnauthenticated);
}

TEST_P(AccessContract, TheServerSaysThatItIsReady) {
  const auto ready = api().ready();
  EXPECT_TRUE(ready) << ready.error().message;
}

}  // namespace
}  // namespace gpuward::contract
