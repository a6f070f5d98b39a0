#include "remediator/notify/event.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/notify/slack_sink.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::remediator {
namespace {

using ::testing::StartsWith;

Remediation sick_node() {
  Remediation remediation;
  remediation.name = "gpu-01-abc-1";
  remediation.node = "gpu-01";
  remediation.instance_id = "aws:///eu-1a/i-0123";
  remediation.severity = Severity::kReboot;
  remediation.alerts.push_back({"GpuNodeNeedsReboot",
                                "ab",
                                Severity::kReboot,
                                {},
                                {},
                                std::nullopt,
                                false,
                                "GPU_HEALTH_ERROR"});
  remediation.alerts.push_back(
      {"DcgmXid", "cd", Severity::kIsolate, {}, {}, std::nullopt, true, "XID_CRITICAL_79"});
  return remediation;
}

Notice notice() {
  return {.id = "gpu-01-abc-1-held-1",
          .moment = Moment::kHeld,
          .sinks = {"oncall"},
          .at = Clock::Wall(std::chrono::hours(500'000)),
          .severity = Severity::kReboot,
          .step = "",
          .phase = "Held",
          .mode = "full",
          .message = "drain failed: <!channel>"};
}

TEST(NotificationEvent, HasTheFieldsOfTheMonitorThatIsReplacedAndOurs) {
  const auto event = event_of(sick_node(), notice(), {.cluster = "prod", .sinks = {}});

  EXPECT_EQ(*parse_json(to_event_json(event, "text")),
            Json({{"timestamp", "2027-01-15T08:00:00.000Z"},
                  {"error_type", "XID_CRITICAL_79"},
                  {"node_name", "gpu-01"},
                  {"instance_id", "i-0123"},
                  {"error_details", "GpuNodeNeedsReboot GPU_HEALTH_ERROR, DcgmXid XID_CRITICAL_79"},
                  {"cluster_name", "prod"},
                  {"remediation", "gpu-01-abc-1"},
                  {"severity", "reboot"},
                  {"moment", "held"},
                  {"step", ""},
                  {"phase", "Held"},
                  {"mode", "full"},
                  {"message", "drain failed: <!channel>"},
                  {"runbook", "gpuwardctl runbook GpuNodeNeedsReboot"},
                  {"id", "gpu-01-abc-1-held-1"},
                  {"dry_run", false},
                  {"drill", false},
                  {"text", "text"}}));
}

TEST(NotificationEvent, IsOfTheFormThatItsSchemaPromises) {
  const auto file = read_file(GPUWARD_SOURCE_DIR "/manifests/schemas/event.schema.json");
  ASSERT_TRUE(file) << file.error().message;
  const Json schema = *parse_json(*file);
  const Json event =
      *parse_json(to_event_json(event_of(sick_node(), notice(), {.sinks = {}}), "text"));

  std::set<std::string> names, promised, described, moments{"test"};
  for (const auto& [name, value] : event.items()) names.insert(name);
  for (const Json& name : schema["required"]) promised.insert(name);
  for (const auto& [name, form] : schema["properties"].items()) described.insert(name);
  EXPECT_EQ(promised, names);
  EXPECT_EQ(described, names);
  for (const Moment moment : kAllMoments) moments.emplace(to_string(moment));
  const std::regex classes(string_at(schema["properties"]["error_type"], "pattern"));
  for (const char* type :
       {"XID_CRITICAL_79", "XID_CRITICAL_UNKNOWN", "XID_WARNING_31", "XID_WARNING_UNKNOWN",
        "XID_ERROR", "ECC_ERROR", "GPU_HEALTH_ERROR", "GPU_HEALTH_WARNING", "HEALTHY"})
    EXPECT_TRUE(std::regex_match(type, classes)) << type;
  EXPECT_FALSE(std::regex_match("XID_CRITICAL_", classes));
  const Json& told = schema["properties"]["moment"]["enum"];
  EXPECT_EQ(std::set<std::string>(told.begin(), told.end()), moments);
}

// Runs the sample as AWS does, on a boto3 that records its calls.
TEST(LambdaSample, TagsTheInstanceOfAnEventAndOfNoDryRun) {
  GPUWARD_REQUIRE(support::why_no_program("python3"));
  const support::TempDir folder;
  const std::string host = folder
                               .write("host.py", R"(
import importlib.util, json, sys, types
calls = []
sys.modules["boto3"] = types.SimpleNamespace(
    client=lambda name: types.SimpleNamespace(create_tags=lambda **call: calls.append([name, call])))
spec = importlib.util.spec_from_file_location("sample", sys.argv[1])
sample = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sample)
sample.handler(json.load(open(sys.argv[2])), None)
print(json.dumps(calls))
)")
                               .string();
  const auto calls_for = [&](const NotificationEvent& event) {
    const std::string file = folder.write("event.json", to_event_json(event, "text")).string();
    const auto ran = support::Process::run(
        {.argv = {"python3", "-B", host, GPUWARD_SOURCE_DIR "/manifests/samples/lambda-handler.py",
                  file}});
    EXPECT_EQ(ran->exit_code, 0) << ran->error_output;
    return parse_json(ran->output).value_or(Json());
  };
  NotificationEvent event = event_of(sick_node(), notice(), {});

  const Json calls = calls_for(event);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0][0], "ec2");
  EXPECT_EQ(calls[0][1]["Resources"], Json::array({"i-0123"}));
  EXPECT_EQ(calls[0][1]["Tags"][0], Json({{"Key", "GPUErrorType"}, {"Value", "XID_CRITICAL_79"}}));
  event.dry_run = true;
  EXPECT_EQ(calls_for(event), Json::array());
}

TEST(NotificationEvent, FillsEveryPlaceholderOfItsText) {
  const auto event = event_of(sick_node(), notice(), {.cluster = "prod", .sinks = {}});

  EXPECT_EQ(text_of(event, "{{severity}} on {{ node_name }}/{{instance_id}}: {{error_type}}"),
            "reboot on gpu-01/i-0123: XID_CRITICAL_79");
}

TEST(NotificationEvent, SaysWhatIsOnlyWatched) {
  Notice watched = notice();
  watched.mode = "observe";

  const auto event = event_of(sick_node(), watched, {});

  EXPECT_TRUE(event.dry_run);
  EXPECT_THAT(text_of(event, "{{message}}"), StartsWith("(observed only) "));
}

// A function that acts on events must leave such a node alone too.
TEST(NotificationEvent, OfAnExcludedNodeIsADryRun) {
  Notice excluded = notice();
  excluded.mode = "full";
  excluded.phase = "Observed";
  EXPECT_TRUE(event_of(sick_node(), excluded, {}).dry_run);
  excluded.phase = "Quarantined";  // tainted and cordoned before
  EXPECT_FALSE(event_of(sick_node(), excluded, {}).dry_run);
  Remediation left_alone = sick_node();
  left_alone.status.rule = "excluded";
  EXPECT_TRUE(event_of(left_alone, excluded, {}).dry_run);
}

TEST(NotificationEvent, LinksNoRunbookForTheRulesOfOthers) {
  Remediation remediation = sick_node();
  remediation.alerts.erase(remediation.alerts.begin());

  EXPECT_EQ(event_of(remediation, notice(), {}).runbook, "");
  EXPECT_EQ(event_of(sick_node(), notice(), {.runbook_url = "https://wiki", .sinks = {}}).runbook,
            "https://wiki/GpuNodeNeedsReboot");
}

TEST(NotificationEvent, CallsNobodyByTheWordsOfAnAlert) {
  EXPECT_EQ(escape_for_slack("<!channel> & <@U1>"), "&lt;!channel&gt; &amp; &lt;@U1&gt;");
}

}  // namespace
}  // namespace gpuward::remediator
