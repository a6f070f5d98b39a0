// `gpuwardctl list`, against the fake API server.
#include "remediator/cli/commands/list_command.h"

#include "core/runtime/json.h"
#include "core/runtime/yaml.h"
#include "remediator/cluster/exclusion_store.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ListCommand : public ClusterTest {
 protected:
  void add(const std::string& name, const std::string& node, const Json& status,
           const Json& labels = Json::object()) {
    const std::string all = remediation_collection();
    kube_.create(all, {{"apiVersion", "gpuward.dev/v1alpha1"},
                       {"kind", "Remediation"},
                       {"metadata", {{"name", name}, {"labels", labels}}},
                       {"spec",
                        {{"nodeName", node},
                         {"nodeUID", "uid"},
                         {"severity", "reboot"},
                         {"alerts", Json::array()}}}});
    kube_.patch_status(all + "/" + name, {{"status", status}});
  }
  // Adds two open ones and a closed one.
  void add_three() {
    add("gpu-10-a-1", "gpu-10", {{"phase", "Draining"}}, {{"team", "a"}});
    add("gpu-2-a-1", "gpu-2", {{"phase", "Held"}}, {{"team", "b"}});
    add("gpu-2-a-0", "gpu-2", {{"phase", "Released"}});
  }
  Result<std::string> try_list(const ListFlags& list, OutputFormat output) {
    CommandFlags flags;
    flags.state_namespace = "default";
    flags.output = output;
    flags.list = list;
    const auto listed = list_remediations(flags, api_, clock_);
    if (!listed) return std::unexpected(listed.error());
    return listed->text;
  }
  std::string list(const ListFlags& flags = {}, OutputFormat output = OutputFormat::kTable) {
    const auto text = try_list(flags, output);
    EXPECT_TRUE(text) << text.error().message;
    return text.value_or("");
  }
  std::string names(const ListFlags& flags) { return list(flags, OutputFormat::kName); }
};

TEST_F(ListCommand, ShowsOpenOnesAndWithAllTheRest) {
  EXPECT_EQ(list(),
            "There are no open remediations. To list closed ones too: gpuwardctl list --all\n");
  EXPECT_EQ(list({.is_all = true}), "There are no remediations.\n");
  add_three();

  EXPECT_THAT(list(),
              AllOf(StartsWith("NAME"), HasSubstr("gpu-2-a-1   gpu-2   reboot    -      Held"),
                    HasSubstr("gpu-10-a-1"), Not(HasSubstr("gpu-2-a-0"))));
  EXPECT_THAT(list({.is_all = true}), HasSubstr("gpu-2-a-0   gpu-2   reboot    -      Released"));
}

TEST_F(ListCommand, ShowsTheNodesOrRemediationsThatAreNamed) {
  add_three();

  EXPECT_EQ(names({.names = {"gpu-2"}}), "remediation.gpuward.dev/gpu-2-a-1\n");
  EXPECT_EQ(names({.names = {"gpu-2-a-0", "gpu-10"}, .is_all = true, .sort_by = ".metadata.name"}),
            "remediation.gpuward.dev/gpu-2-a-0\nremediation.gpuward.dev/gpu-10-a-1\n");
  EXPECT_EQ(names({.names = {"gpu-3"}}), "");
}

TEST_F(ListCommand, ShowsWhatTheLabelsSelect) {
  add_three();

  EXPECT_EQ(names({.selector = "team=a"}), "remediation.gpuward.dev/gpu-10-a-1\n");
  EXPECT_EQ(names({.selector = "team notin (a),team"}), "remediation.gpuward.dev/gpu-2-a-1\n");
  EXPECT_EQ(names({.is_all = true, .selector = "!team"}), "remediation.gpuward.dev/gpu-2-a-0\n");
  EXPECT_EQ(try_list({.selector = "team=="}, OutputFormat::kTable).has_value(), true);
  EXPECT_EQ(try_list({.selector = "="}, OutputFormat::kTable).error().kind, ErrorKind::kInvalid);
}

TEST_F(ListCommand, SortsByAField) {
  add_three();

  // Equal ones keep their order: open ones first.
  EXPECT_EQ(names({.is_all = true, .sort_by = "{.spec.nodeName}"}),
            "remediation.gpuward.dev/gpu-2-a-1\nremediation.gpuward.dev/gpu-2-a-0\n"
            "remediation.gpuward.dev/gpu-10-a-1\n");
  const auto unknown = try_list({.sort_by = ".spec.nothing"}, OutputFormat::kTable);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(unknown.error().message, HasSubstr("--sort-by: no remediation has the field"));
  EXPECT_EQ(try_list({.sort_by = ".a[*]"}, OutputFormat::kTable).error().kind, ErrorKind::kInvalid);
}

TEST_F(ListCommand, LeavesOutAllButTheRowsWithoutHeaders) {
  EXPECT_EQ(list({.has_no_headers = true}), "");
  add_three();
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});

  const std::string text = list({.names = {"gpu-2"}, .has_no_headers = true});

  EXPECT_THAT(text, StartsWith("gpu-2-a-1  gpu-2  reboot  -  Held  "));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST_F(ListCommand, NamesTheNodesThatAreExcluded) {
  add_node("gpu-02");
  kube_.create("/api/v1/namespaces/default/configmaps",
               {{"metadata", {{"name", "gpuward-remediator"}}},
                {"data", {{"policy.yaml", "excluded: {labels: [pool=old], nodes: [gone]}\n"}}}});
  for (const auto& [node, label] :
       {std::pair("gpu-01", "gpuward.dev/managed=false"), std::pair("gpu-02", "pool=old")}) {
    const std::string text = label;
    kube_.patch(std::string("/api/v1/nodes/") + node,
                {{"metadata",
                  {{"labels",
                    {{text.substr(0, text.find('=')), text.substr(text.find('=') + 1)},
                     {"nvidia.com/gpu.present", "true"}}}}}});
  }
  ExclusionStore store(api_, "default", clock_);
  ASSERT_TRUE(store.change([&](ExclusionList next) {
    next["i-0123"] = {.since = clock_.wall(),
                      .until = clock_.wall() + std::chrono::hours(1),
                      .reason = "firmware",
                      .by = "alice"};
    return Result<ExclusionList>(std::move(next));
  }));
  kube_.clear_requests();

  const std::string text = list();

  EXPECT_THAT(text, HasSubstr("\ngpu-01 is excluded: the node is labelled"));
  EXPECT_THAT(text, HasSubstr("\ngpu-02 is excluded: excluded.labels matches the node: pool=old"));
  EXPECT_THAT(text, HasSubstr("\ni-0123 is excluded until 2026-01-01T01:00:00Z by alice: firm"));
  EXPECT_THAT(list({.names = {"gpu-02"}}), AllOf(HasSubstr("gpu-02 is"), Not(HasSubstr("gpu-01"))));
  for (const auto& request : kube_.requests()) {
    const bool is_of_all =
        request.path == "/api/v1/nodes" && !request.query.contains("labelSelector");
    EXPECT_FALSE(is_of_all) << "all nodes of a large cluster take seconds";
  }
}

TEST_F(ListCommand, SaysIfExclusionsMayNotBeRead) {
  kube_.add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = ".*/gpuward-exclusions", .times = -1});

  EXPECT_THAT(list(), HasSubstr("\nNot known: exclusions: "));
}

TEST_F(ListCommand, PrintsAListAsKubectlDoesForPrograms) {
  add_three();

  const auto json = parse_json(list({}, OutputFormat::kJson));
  const std::string yaml = list({.names = {"gpu-2"}}, OutputFormat::kYaml);

  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["apiVersion"], "v1");
  EXPECT_EQ((*json)["kind"], "List");
  ASSERT_EQ((*json)["items"].size(), 2U);
  const Json& item = (*json)["items"][0];
  EXPECT_EQ(item["apiVersion"], "gpuward.dev/v1alpha1");
  EXPECT_EQ(item["kind"], "Remediation");
  EXPECT_EQ(item["spec"]["nodeName"], "gpu-10");
  EXPECT_EQ(item["status"]["phase"], "Draining");
  EXPECT_THAT(yaml, AllOf(StartsWith("apiVersion: v1\nitems:\n"), HasSubstr("\nkind: List\n"),
                          HasSubstr("\n      nodeName: gpu-2\n"), Not(HasSubstr("{"))));
  const auto file = YamlFile::parse(yaml, "list");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->root().maps("items").size(), 1U);
  EXPECT_THAT((*parse_json(list({.names = {"gpu-3"}}, OutputFormat::kJson)))["items"], IsEmpty());
}

TEST_F(ListCommand, PrintsMoreOfEachOnAWideScreenAndNodesOnce) {
  add_three();

  EXPECT_THAT(list({}, OutputFormat::kWide), HasSubstr("MODE     RULE  STEP  TOKEN  INSTANCE"));
  EXPECT_EQ(list({.is_all = true, .sort_by = ".metadata.name"}, OutputFormat::kNodes),
            "gpu-2\ngpu-10\n");
  EXPECT_EQ(list({.names = {"gpu-3"}}, OutputFormat::kNodes), "");
}

}  // namespace
}  // namespace gpuward::remediator
