#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using ConfigMapsTest = ApiTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

ConfigMap stored_map() {
  ConfigMap map;
  map.meta.name = "gpuward-ledger";
  map.meta.ns = "sys";
  map.meta.resource_version = "5";
  map.data = {{"ledger", "{}"}};
  return map;
}

constexpr const char* kMapAnswer =
    R"({"metadata":{"name":"gpuward-ledger","namespace":"sys","uid":"u1","resourceVersion":"6"},
    "data":{"ledger":"{}","odd":7}})";

TEST_F(ConfigMapsTest, AreReadPastTheCacheOfTheServer) {
  client.then(answer(200, kMapAnswer));
  const auto map = api.get_config_map("sys", "gpuward-ledger");
  ASSERT_TRUE(map);
  EXPECT_EQ(url(0), "https://api:6443/api/v1/namespaces/sys/configmaps/gpuward-ledger");
  EXPECT_THAT(url(0), Not(HasSubstr("resourceVersion")));
  EXPECT_EQ(map->meta.resource_version, "6");
  EXPECT_THAT(map->data, ElementsAre(Pair("ledger", "{}")));
}

TEST_F(ConfigMapsTest, AreReplacedUnderTheirVersion) {
  client.then(answer(200, R"({"kind":"PartialObjectMetadata","metadata":{"name":"gpuward-ledger",
                               "namespace":"sys","uid":"u1","resourceVersion":"6"}})"));
  const auto written = api.update_config_map(stored_map());
  ASSERT_TRUE(written);
  EXPECT_EQ(written->meta.resource_version, "6");
  EXPECT_EQ(written->data, stored_map().data);
  EXPECT_EQ(client.requests[0].method, "PUT");
  EXPECT_THAT(client.requests[0].headers,
              Contains(Pair("Accept", HasSubstr("as=PartialObjectMetadata"))));
  EXPECT_EQ(sent(0)["metadata"]["resourceVersion"], "5");
  EXPECT_EQ(sent(0)["data"]["ledger"], "{}");
}

TEST_F(ConfigMapsTest, AreNeverReplacedWithoutAVersion) {
  ConfigMap map = stored_map();
  map.meta.resource_version.clear();
  EXPECT_FALSE(api.update_config_map(map));
  EXPECT_TRUE(client.requests.empty());
}

TEST_F(ConfigMapsTest, AreNotLookedForUnderANameThatIsNone) {
  EXPECT_FALSE(api.get_config_map("sys", "../secrets/x"));
  EXPECT_FALSE(api.create_config_map({}));
  EXPECT_TRUE(client.requests.empty());
}

}  // namespace
}  // namespace gpuward::kube
