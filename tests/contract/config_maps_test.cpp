#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

using kube::ConfigMap;
using ::testing::ElementsAre;
using ::testing::Pair;

class ConfigMapsContract : public ContractTest {
 protected:
  static ConfigMap map_of(const std::string& value) {
    ConfigMap map;
    map.meta.name = own_name();
    map.meta.ns = "default";
    map.meta.labels = {{"app", "gpuward"}};
    map.data = {{"key", value}};
    return map;
  }
};
GPUWARD_CONTRACT(ConfigMapsContract);

TEST_P(ConfigMapsContract, IsCreatedReadAndReplaced) {
  EXPECT_EQ(api().get_config_map("default", own_name()).error().kind, ErrorKind::kNotFound);
  const auto created = api().create_config_map(map_of("a\n\"b\""));
  ASSERT_TRUE(created) << created.error().message;
  ConfigMap map = api().get_config_map("default", own_name()).value();
  EXPECT_THAT(map.data, ElementsAre(Pair("key", "a\n\"b\"")));
  EXPECT_THAT(map.meta.labels, ElementsAre(Pair("app", "gpuward")));
  map.data = {{"other", "c"}};
  const auto updated = api().update_config_map(map);
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_THAT(updated->data, ElementsAre(Pair("other", "c")));
  EXPECT_NE(updated->meta.resource_version, map.meta.resource_version);
  EXPECT_EQ(updated->meta.uid, created->meta.uid);
}

TEST_P(ConfigMapsContract, IsCreatedByOneOnly) {
  ASSERT_TRUE(api().create_config_map(map_of("mine")));
  EXPECT_EQ(api().create_config_map(map_of("yours")).error().kind, ErrorKind::kAlreadyExists);
}

TEST_P(ConfigMapsContract, IsReplacedByOneOnly) {
  const auto seen = api().create_config_map(map_of("before"));
  ASSERT_TRUE(seen);
  ConfigMap mine = *seen;
  ConfigMap yours = *seen;
  mine.data["key"] = "mine";
  yours.data["key"] = "yours";
  ASSERT_TRUE(api().update_config_map(yours));
  EXPECT_EQ(api().update_config_map(mine).error().kind, ErrorKind::kConflict);
  EXPECT_EQ(api().get_config_map("default", own_name())->data["key"], "yours");
}

// A new object under the same name has another history.
TEST_P(ConfigMapsContract, IsNotReplacedOnceItWasMadeAnew) {
  const auto seen = api().create_config_map(map_of("old"));
  ASSERT_TRUE(seen);
  must("DELETE", "/api/v1/namespaces/default/configmaps/" + own_name());
  ASSERT_TRUE(api().create_config_map(map_of("new")));
  EXPECT_EQ(api().update_config_map(*seen).error().kind, ErrorKind::kConflict);
}

TEST_P(ConfigMapsContract, IsNotMadeByReplacing) {
  ConfigMap map = map_of("x");
  map.meta.resource_version = "1";
  EXPECT_EQ(api().update_config_map(map).error().kind, ErrorKind::kNotFound);
}

TEST_P(ConfigMapsContract, IsRefusedOverOneMebibyte) {
  const auto kept = api().create_config_map(map_of("x"));
  ASSERT_TRUE(kept);
  ConfigMap large = *kept;
  large.data["key"] = std::string((1U << 20U) + 1, 'x');
  const auto refused = api().update_config_map(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::contract
