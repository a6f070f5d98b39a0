// Exclusions that operators make on the command line, against the fake API server.
#include "remediator/cli/commands/exclusion_commands.h"

#include "remediator/cluster/exclusion_store.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExclusionCommands : public ClusterTest {
 protected:
  using Command = Result<std::string> (*)(const CommandFlags&, kube::Api&, Clock&);
  Result<std::string> say(Command command, ExclusionFlags what = {},
                          OutputFormat output = OutputFormat::kTable) {
    CommandFlags flags;
    flags.output = output;
    flags.exclusion = std::move(what);
    flags.state_namespace = "default";
    return command(flags, api_, clock_);
  }
  std::string list() { return *say(list_exclusions); }

  support::TempDir folder_;
};

TEST_F(ExclusionCommands, AddListAndRemove) {
  EXPECT_EQ(list(), "Nothing is excluded.\n");

  const auto added = say(add_exclusion, {.subject = "gpu-01", .reason = "a test"});

  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(*added, "gpu-01 is excluded until 2026-01-01T00:30:00Z by anonymous-admin: a test\n");
  EXPECT_EQ(list(), *added);
  EXPECT_EQ(*say(remove_exclusion, {.subject = "gpu-01"}), "gpu-01 is no longer excluded\n");
  EXPECT_EQ(list(), "Nothing is excluded.\n");
  EXPECT_THAT(*say(remove_exclusion, {.subject = "gpu-01"}), HasSubstr("is not excluded"));
  EXPECT_EQ(say(add_exclusion, {.subject = "a/b"}).error().kind, ErrorKind::kInvalid);
}

TEST_F(ExclusionCommands, RefuseANameThatNobodyHasAndSayWhichWasMeant) {
  for (const Command command : {add_exclusion, remove_exclusion}) {
    const auto said = say(command, {.subject = "gpu-o1"});
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().kind, ErrorKind::kNotFound);
    EXPECT_THAT(said.error().message, HasSubstr("did you mean \"gpu-01\"?"));
  }
  EXPECT_EQ(list(), "Nothing is excluded.\n");
}

TEST_F(ExclusionCommands, TakeTheInstanceBehindANode) {
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"providerID", "aws:///eu-1a/i-0123"}}}});

  EXPECT_TRUE(say(add_exclusion, {.subject = "i-0123"}));
}

TEST_F(ExclusionCommands, TakeTheInstanceOfANodeThatIsGone) {
  kube_.patch("/api/v1/nodes/gpu-01", {{"spec", {{"providerID", "aws:///eu-1a/i-0123"}}}});
  catch_up(*replica_);
  ASSERT_TRUE(take({signal()}));
  kube_.remove("/api/v1/nodes/gpu-01");

  EXPECT_TRUE(say(add_exclusion, {.subject = "i-0123"}));
}

TEST_F(ExclusionCommands, ListNodesThatTheirLabelKeepsGpuwardOff) {
  kube_.patch("/api/v1/nodes/gpu-01",
              {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});

  EXPECT_EQ(list(), "gpu-01 is excluded: the node is labelled gpuward.dev/managed=false\n");
  EXPECT_EQ(*say(remove_exclusion, {.subject = "gpu-01"}),
            "gpu-01 is not excluded, but gpuward leaves it alone: the node is labelled "
            "gpuward.dev/managed=false\n");
  EXPECT_EQ(*say(list_exclusions, {}, OutputFormat::kJson),
            R"({"items":[{"by":"","name":"gpu-01","reason":"the node is labelled )"
            R"(gpuward.dev/managed=false","since":null,"until":null}]})"
            "\n");
}

TEST_F(ExclusionCommands, WorkForWhoMayNotReadNodes) {
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden, .path = "/api/v1/nodes", .times = -1});

  EXPECT_TRUE(say(add_exclusion, {.subject = "gpu-01"}));
  EXPECT_THAT(list(), HasSubstr("Not known: labels of nodes: "));
}

TEST_F(ExclusionCommands, ListForPrograms) {
  EXPECT_EQ(*say(list_exclusions, {}, OutputFormat::kYaml), "items: []\n");
  ASSERT_TRUE(say(add_exclusion, {.subject = "gpu-01", .reason = "a test"}));

  EXPECT_EQ(*say(list_exclusions, {}, OutputFormat::kJson),
            R"({"items":[{"by":"anonymous-admin","name":"gpu-01","reason":"a test",)"
            R"("since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:30:00Z"}]})"
            "\n");
}

TEST_F(ExclusionCommands, LastAsLongAsIsSaid) {
  ASSERT_TRUE(say(add_exclusion, {.subject = "gpu-01", .lasts = std::chrono::minutes(2)}));
  clock_.advance(std::chrono::minutes(2));

  EXPECT_EQ(list(), "Nothing is excluded.\n");
}

TEST_F(ExclusionCommands, ImportAFileOrNothingOfIt) {
  const auto import = [&](const std::string& text) {
    return say(import_exclusions, {.file = folder_.write("file.json", text)});
  };
  const auto refused = import(R"({"i-1": {"start_time": 1767225600}, "i-2": {}})");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing is imported: i-2: start_time"));
  EXPECT_EQ(list(), "Nothing is excluded.\n");

  const auto taken = import(
      R"({"i-1": {"start_time": 1767225600, "error_type": "XID_ERROR"},
          "i-2": {"start_time": 1}})");

  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_THAT(*taken, HasSubstr("1 exclusions from "));
  EXPECT_EQ(list(),
            "i-1 is excluded until 2026-01-01T00:30:00Z by anonymous-admin: XID_ERROR, imported\n");
}

TEST_F(ExclusionCommands, ImportShortensNothing) {
  ASSERT_TRUE(say(add_exclusion, {.subject = "gpu-01", .lasts = std::chrono::hours(5)}));
  const auto path = folder_.write("file.json", R"({"gpu-01": {"start_time": 1767225600}})");

  ASSERT_TRUE(say(import_exclusions, {.file = path}));

  EXPECT_THAT(list(), HasSubstr("until 2026-01-01T05:00:00Z"));
}

}  // namespace
}  // namespace gpuward::remediator
