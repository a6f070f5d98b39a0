#include "core/kube/node_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kube/decode.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

constexpr const char* kForeign =
    R"({"effect":"NoExecute","fromTheFuture":{"a":[1]},"key":"other","timeAdded":"2026-01-01T00:00:00Z"})";

Node seen_node(const std::string& taints = "[]", const std::string& unschedulable = "false") {
  return parse_node(
             R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"5","labels":{"l":"1"},"annotations":{"a":"1"}},
      "spec":{"unschedulable":)" +
             unschedulable + R"(,"taints":)" + taints + "}}")
      .value();
}

Json patch_of(const Node& seen, const NodeChange& change) {
  return parse_json(node_patch(seen, change)).value_or(Json("nothing"));
}

NodeChange setting(Taint taint) {
  NodeChange change;
  change.set_taints = {std::move(taint)};
  return change;
}

TEST(NodePatch, CarriesTheVersionAndTheUidItWasDecidedOn) {
  NodeChange change;
  change.unschedulable = true;
  EXPECT_EQ(node_patch(seen_node(), change),
            R"({"metadata":{"resourceVersion":"5","uid":"u1"},"spec":{"unschedulable":true}})");
}

TEST(NodePatch, UncordonsByRemovingTheField) {
  NodeChange change;
  change.unschedulable = false;
  EXPECT_TRUE(patch_of(seen_node("[]", "true"), change)["spec"]["unschedulable"].is_null());
}

TEST(NodePatch, IsEmptyIfNothingChanges) {
  NodeChange change = setting({"k", "v", "NoSchedule", ""});
  change.unschedulable = true;
  change.set_labels = {{"l", "1"}};
  change.set_annotations = {{"a", "1"}};
  change.remove_annotations = {"absent"};
  change.remove_taints = {{"absent", "", "NoSchedule", ""}};
  EXPECT_EQ(
      node_patch(seen_node(R"([{"key":"k","value":"v","effect":"NoSchedule"}])", "true"), change),
      "");
  EXPECT_EQ(node_patch(seen_node(), {}), "");
}

TEST(NodePatch, KeepsForeignTaintsWholeAndInPlace) {
  const std::string taints = std::string("[") + kForeign +
                             R"(,{"key":"ours","value":"old","effect":"NoSchedule"},)" +
                             R"({"key":"last","effect":"NoSchedule"}])";
  const Json patch = patch_of(seen_node(taints), setting({"ours", "new", "NoSchedule", ""}));
  ASSERT_EQ(patch["spec"]["taints"].size(), 3U);
  EXPECT_EQ(dump_json(patch["spec"]["taints"][0]), kForeign);
  EXPECT_EQ(patch["spec"]["taints"][1]["value"], "new");
  EXPECT_EQ(patch["spec"]["taints"][2]["key"], "last");
}

TEST(NodePatch, ATaintOfTheSameKeyAndAnotherEffectIsAnother) {
  const Json patch = patch_of(seen_node(R"([{"key":"ours","value":"v","effect":"NoExecute"}])"),
                              setting({"ours", "v", "NoSchedule", ""}));
  EXPECT_EQ(patch["spec"]["taints"].size(), 2U);
}

TEST(NodePatch, RemovesByKeyAndEffectOnly) {
  NodeChange change;
  change.remove_taints = {{"ours", "whatever", "NoSchedule", ""}};
  const Json patch = patch_of(
      seen_node(
          R"([{"key":"ours","value":"v","effect":"NoSchedule"},{"key":"ours","value":"v","effect":"NoExecute"}])"),
      change);
  ASSERT_EQ(patch["spec"]["taints"].size(), 1U);
  EXPECT_EQ(patch["spec"]["taints"][0]["effect"], "NoExecute");
}

TEST(NodePatch, RemovingTheLastTaintLeavesAnEmptyList) {
  NodeChange change;
  change.remove_taints = {{"ours", "", "NoSchedule", ""}};
  EXPECT_EQ(dump_json(patch_of(seen_node(R"([{"key":"ours","effect":"NoSchedule"}])"),
                               change)["spec"]["taints"]),
            "[]");
}

TEST(NodePatch, DoesNotTouchTheListForLabels) {
  NodeChange change;
  change.set_labels = {{"new", "1"}};
  change.remove_labels = {"l"};
  const Json patch = patch_of(seen_node(std::string("[") + kForeign + "]"), change);
  EXPECT_FALSE(patch.contains("spec"));
  EXPECT_EQ(dump_json(patch["metadata"]["labels"]), R"({"l":null,"new":"1"})");
}

TEST(NodePatch, SettingWinsOverRemovingTheSameKey) {
  NodeChange change;
  change.remove_annotations = {"a"};
  change.set_annotations = {{"a", "2"}};
  EXPECT_EQ(patch_of(seen_node(), change)["metadata"]["annotations"]["a"], "2");
  change.set_annotations = {{"a", "1"}};
  EXPECT_EQ(node_patch(seen_node(), change), "");
}

}  // namespace
}  // namespace gpuward::kube
