#include "remediator/command_json.h"

#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

TEST(CommandJson, LeavesOutTheBookkeepingOfFieldsAndWhatIsNoObject) {
  std::vector<kube::CustomObject> objects(2);
  objects[0].json = R"({"metadata": {"name": "a", "managedFields": [{"manager": "x"}]}})";
  objects[1].json = "[]";

  EXPECT_EQ(remediations_json(objects),
            R"({"apiVersion":"gpuward.dev/v1alpha1","items":[{"metadata":{"name":"a"}}],)"
            R"("kind":"RemediationList"})");
  EXPECT_EQ(explanation_json("gpu-01", "", objects),
            R"({"excluded":null,"node":"gpu-01","remediations":[{"metadata":{"name":"a"}}]})");
}

TEST(CommandJson, KnowsExclusionsWithoutAnEnd) {
  EXPECT_EQ(exclusions_json(
                {{"gpu-01", {.since = {}, .until = WallTime::max(), .reason = {}, .by = {}}}}),
            R"({"items":[{"by":"","name":"gpu-01","reason":"",)"
            R"("since":"1970-01-01T00:00:00Z","until":null}]})");
}

}  // namespace
}  // namespace gpuward::remediator
