#include "remediator/cli/commands/command_json.h"

#include <gtest/gtest.h>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

TEST(CommandJson, LeavesOutTheBookkeepingOfFieldsAndWhatIsNoObject) {
  std::vector<kube::CustomObject> objects(2);
  objects[0].json = std::make_shared<const Json>(
      Json{{"metadata", {{"name", "a"}, {"managedFields", Json::array({"x"})}}}});
  objects[1].json = std::make_shared<const Json>(Json::array());

  EXPECT_EQ(list_json(objects), R"({
    "apiVersion": "v1",
    "items": [
        {
            "metadata": {
                "name": "a"
            }
        }
    ],
    "kind": "List",
    "metadata": {
        "resourceVersion": ""
    }
})");
  EXPECT_EQ(
      explanation_json("gpu-01", "", "", objects),
      R"({"disagrees":null,"excluded":null,"node":"gpu-01","remediations":[{"metadata":{"name":"a"}}]})");
}

TEST(CommandJson, KnowsExclusionsWithoutAnEnd) {
  EXPECT_EQ(exclusions_json(
                {{"gpu-01", {.since = {}, .until = WallTime::max(), .reason = {}, .by = {}}}}),
            R"({"items":[{"by":"","name":"gpu-01","reason":"",)"
            R"("since":null,"until":null}]})");
}

}  // namespace
}  // namespace gpuward::remediator
