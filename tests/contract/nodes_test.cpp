#include <set>

#include "core/kube/update_node.h"
#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

using kube::Node;
using kube::NodeChange;
using kube::Taint;

class NodesContract : public ContractTest {
 protected:
  static const Taint* find(const Node& node, const std::string& key) {
    for (const Taint& taint : node.taints) {
      if (taint.key == key) return &taint;
    }
    return nullptr;
  }
  static NodeChange tainting(const std::string& value) {
    NodeChange change;
    change.set_taints = {{"gpuward.dev/remediation", value, "NoSchedule", ""}};
    return change;
  }
  Json raw(const Node& node) { return must("GET", "/api/v1/nodes/" + node.meta.name); }
};
GPUWARD_CONTRACT(NodesContract);

TEST_P(NodesContract, ReadsANode) {
  const Node node = make_node();
  EXPECT_EQ(node.meta.name, own_name());
  EXPECT_FALSE(node.meta.uid.empty());
  EXPECT_FALSE(node.meta.resource_version.empty());
  EXPECT_TRUE(node.meta.created);
  EXPECT_EQ(node.boot_id, "boot-" + own_name());
  EXPECT_EQ(node.provider_id, "aws:///eu-west-1a/i-" + own_name());
  EXPECT_FALSE(node.unschedulable);
}

TEST_P(NodesContract, SaysThatANodeIsNotThere) {
  const auto node = api().get_node("absent");
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kNotFound);
}

TEST_P(NodesContract, ListsInPagesWhatASelectorMatches) {
  std::set<std::string> made;
  for (int i = 0; i < 7; ++i) {
    const std::string name = own_name("-" + std::to_string(i));
    Json node = fakes::ready_node(name);
    node["metadata"]["labels"]["list"] = "me";
    must("POST", "/api/v1/nodes", node);
    made.insert(name);
  }
  Connection small(target(), Role::kAdmin, 3);
  const auto nodes = small.api.list_nodes("list=me");
  ASSERT_TRUE(nodes) << nodes.error().message;
  std::set<std::string> seen;
  for (const Node& node : *nodes) seen.insert(node.meta.name);
  EXPECT_EQ(seen, made);
  EXPECT_EQ(nodes->size(), made.size());
}

TEST_P(NodesContract, TaintsCordonsAndAnnotatesInOnePatch) {
  const Node before = make_node();
  NodeChange change = tainting("reboot");
  change.unschedulable = true;
  change.set_annotations = {{"gpuward.dev/remediation", R"({"why":"xid 79"})"}};
  change.set_labels = {{"gpuward.dev/state", "bad"}};
  change.remove_labels = {"nvidia.com/gpu.present"};
  const auto after = api().change_node(before, change);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_TRUE(after->unschedulable);
  ASSERT_NE(find(*after, "gpuward.dev/remediation"), nullptr);
  EXPECT_EQ(find(*after, "gpuward.dev/remediation")->value, "reboot");
  EXPECT_EQ(after->meta.annotations.at("gpuward.dev/remediation"), R"({"why":"xid 79"})");
  EXPECT_EQ(after->meta.labels.at("gpuward.dev/state"), "bad");
  EXPECT_FALSE(after->meta.labels.contains("nvidia.com/gpu.present"));
  EXPECT_NE(after->meta.resource_version, before.meta.resource_version);
}

TEST_P(NodesContract, UndoesAllOfItInOnePatch) {
  NodeChange change = tainting("reboot");
  change.unschedulable = true;
  change.set_annotations = {{"gpuward.dev/remediation", "{}"}};
  const auto tainted = api().change_node(make_node(), change);
  ASSERT_TRUE(tainted) << tainted.error().message;
  NodeChange undo;
  undo.unschedulable = false;
  undo.remove_taints = change.set_taints;
  undo.remove_annotations = {"gpuward.dev/remediation"};
  const auto after = api().change_node(*tainted, undo);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_FALSE(after->unschedulable);
  EXPECT_EQ(find(*after, "gpuward.dev/remediation"), nullptr);
  EXPECT_FALSE(after->meta.annotations.contains("gpuward.dev/remediation"));
  EXPECT_FALSE(raw(*after)["spec"].contains("unschedulable"));
}

TEST_P(NodesContract, ReplacesATaintOfTheSameKeyAndEffect) {
  const auto first = api().change_node(make_node(), tainting("reset"));
  ASSERT_TRUE(first) << first.error().message;
  const auto second = api().change_node(*first, tainting("isolate"));
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_EQ(second->taints.size(), 1U);
  EXPECT_EQ(second->taints[0].value, "isolate");
}

TEST_P(NodesContract, RefusesTwoTaintsOfOneKeyAndEffect) {
  const Node node = make_node();
  const Json one = {{"key", "k"}, {"effect", "NoSchedule"}};
  const auto answer = target().request("PATCH", "/api/v1/nodes/" + node.meta.name,
                                       {{"spec", {{"taints", {one, one}}}}});
  EXPECT_FALSE(answer);
}

TEST_P(NodesContract, KeepsForeignTaintsWithAllTheirFields) {
  const Node made = make_node();
  const Json foreign = {{"key", "theirs"},
                        {"value", "v"},
                        {"effect", "NoExecute"},
                        {"timeAdded", "2026-01-01T00:00:00Z"}};
  must("PATCH", "/api/v1/nodes/" + made.meta.name, {{"spec", {{"taints", {foreign}}}}});
  const auto seen = api().get_node(made.meta.name);
  ASSERT_TRUE(seen);
  const auto after = api().change_node(*seen, tainting("reset"));
  ASSERT_TRUE(after) << after.error().message;
  const Json taints = raw(*after)["spec"]["taints"];
  ASSERT_EQ(taints.size(), 2U);
  EXPECT_EQ(taints[0], foreign);
}

TEST_P(NodesContract, ATaintAddedMeanwhileIsAConflictAndSurvives) {
  const Node seen = make_node();
  const Json foreign = {{"key", "theirs"}, {"effect", "NoSchedule"}};
  must("PATCH", "/api/v1/nodes/" + seen.meta.name, {{"spec", {{"taints", {foreign}}}}});
  const auto lost = api().change_node(seen, tainting("reset"));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::kConflict);
  SystemClock clock;
  const auto after = kube::update_node(
      api(), {seen.meta.name, seen.meta.uid}, [](const Node&) { return tainting("reset"); }, clock);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_NE(find(*after, "theirs"), nullptr);
  EXPECT_NE(find(*after, "gpuward.dev/remediation"), nullptr);
}

TEST_P(NodesContract, AStatusWriteOfTheKubeletIsAConflictToo) {
  const Node seen = make_node();
  must("PATCH", "/api/v1/nodes/" + seen.meta.name + "/status",
       {{"status", {{"phase", "Running"}}}});
  EXPECT_EQ(api().change_node(seen, tainting("reset")).error().kind, ErrorKind::kConflict);
}

TEST_P(NodesContract, ANodeReCreatedUnderItsNameIsNotTouched) {
  const Node old = make_node();
  must("DELETE", "/api/v1/nodes/" + old.meta.name);
  const Node fresh = make_node();
  ASSERT_NE(fresh.meta.uid, old.meta.uid);
  EXPECT_EQ(api().change_node(old, tainting("reset")).error().kind, ErrorKind::kConflict);
  Node mixed = fresh;  // the right version and another's UID
  mixed.meta.uid = old.meta.uid;
  EXPECT_EQ(api().change_node(mixed, tainting("reset")).error().kind, ErrorKind::kConflict);
  EXPECT_TRUE(api().get_node(old.meta.name)->taints.empty());
}

TEST_P(NodesContract, WritesNothingIfNothingChanges) {
  const auto tainted = api().change_node(make_node(), tainting("reset"));
  ASSERT_TRUE(tainted);
  const auto again = api().change_node(*tainted, tainting("reset"));
  ASSERT_TRUE(again);
  EXPECT_EQ(api().get_node(own_name())->meta.resource_version, tainted->meta.resource_version);
}

TEST_P(NodesContract, RefusesALabelThatIsNone) {
  NodeChange change;
  change.set_labels = {{"gpuward.dev/state", "not a label value!"}};
  const auto node = api().change_node(make_node(), change);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().kind, ErrorKind::kInvalid);
}

TEST_P(NodesContract, AConditionBeatsAndKeepsTheTimeOfItsTransition) {
  const Node made = make_node();
  const auto first = api().set_node_condition(made, {"GPUProblem", "False", "GPUsAreUp", "well"});
  ASSERT_TRUE(first) << first.error().message;
  const auto long_ago = *parse_rfc3339("2026-01-01T00:00:00Z");
  Json old = {{"type", "GPUProblem"},
              {"status", "False"},
              {"lastTransitionTime", "2026-01-01T00:00:00Z"},
              {"lastHeartbeatTime", "2026-01-01T00:00:00Z"}};
  must("PATCH", "/api/v1/nodes/" + own_name() + "/status",
       {{"status", {{"conditions", Json::array({old})}}}});
  const auto seen = api().get_node(own_name());
  ASSERT_TRUE(seen);
  const auto beaten = api().set_node_condition(*seen, {"GPUProblem", "False", "GPUsAreUp", "well"});
  ASSERT_TRUE(beaten) << beaten.error().message;
  ASSERT_EQ(beaten->conditions.size(), 1U);
  EXPECT_EQ(beaten->conditions[0].transition, long_ago);
  EXPECT_GT(beaten->conditions[0].heartbeat, long_ago);
  const auto flipped = api().set_node_condition(*beaten, {"GPUProblem", "True", "GPUsAreDown", ""});
  ASSERT_TRUE(flipped) << flipped.error().message;
  EXPECT_GT(flipped->conditions[0].transition, long_ago);
}

TEST_P(NodesContract, AConditionOfANodeReCreatedUnderItsNameIsNotTouched) {
  const Node old = make_node();
  must("DELETE", "/api/v1/nodes/" + old.meta.name);
  const Node fresh = make_node();
  const auto lost = api().set_node_condition(old, {"GPUProblem", "True", "GPUsAreDown", ""});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::kConflict);
}

TEST_P(NodesContract, SetsOneConditionBesideTheOthers) {
  make_node();
  ASSERT_TRUE(
      api().set_node_condition(own_name(), {"GPUProblem", "True", "GPUsAreDown", "xid 79"}));
  ASSERT_TRUE(api().set_node_condition(own_name(), {"GPUProblem", "False", "GPUsAreUp", "well"}));
  const auto node = api().get_node(own_name());
  ASSERT_TRUE(node);
  ASSERT_EQ(node->conditions.size(), 2U);
  for (const auto& condition : node->conditions) {
    EXPECT_EQ(condition.status, condition.type == "Ready" ? "True" : "False");
  }
}

}  // namespace
}  // namespace gpuward::contract
