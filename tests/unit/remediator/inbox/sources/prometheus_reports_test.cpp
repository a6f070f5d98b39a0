#include "remediator/inbox/sources/prometheus_reports.h"

#include <gmock/gmock.h>

#include "remediator/inbox/sources/alertmanager_api.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string sample(const std::string& labels, const std::string& value) {
  return R"({"metric":{)" + labels + R"(},"value":[1763712300.1,")" + value + R"("]})";
}

std::string result_of(const std::vector<std::string>& samples) {
  std::string list;
  for (const std::string& text : samples) list += (list.empty() ? "" : ",") + text;
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + list + "]}}";
}

const std::string kTime = sample(R"("what":"measured_at","node":"gpu-01")", "1763712298.5");
const std::string kSeverity = sample(R"("what":"severity","node":"gpu-01")", "1");
const std::string kKernel = sample(R"("what":"confirmed_severity","node":"gpu-01")", "0");
const std::string kLogUp = sample(R"("what":"kernel_log_up","node":"gpu-01")", "1");
const std::string kBoot = sample(R"("what":"boot","boot_id":"boot-1")", "1");

TEST(PrometheusReports, ReadSeverityTimeAndBootFromOneAnswer) {
  const auto report = decode_report(result_of({kTime, kSeverity, kKernel, kLogUp, kBoot}));

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->severity, Severity::kMonitor);
  EXPECT_EQ(report->confirmed_severity, Severity::kNone);
  EXPECT_TRUE(report->sees_kernel_log);
  EXPECT_EQ(report->boot_id, "boot-1");
  EXPECT_EQ(
      std::chrono::duration_cast<std::chrono::milliseconds>(report->measured_at.time_since_epoch())
          .count(),
      1763712298500);
}

TEST(PrometheusReports, TellADrillFromWhatIsReal) {
  const auto report = decode_report(result_of({kTime, kSeverity, kKernel, kLogUp, kBoot,
                                               sample(R"("what":"drill","node":"gpu-01")", "3")}));

  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->severity, Severity::kMonitor);
  EXPECT_EQ(report->confirmed_severity, Severity::kNone);
  EXPECT_EQ(with_drill(*report).severity, Severity::kReboot);
  EXPECT_EQ(with_drill(*report).confirmed_severity, Severity::kReboot);
}

TEST(PrometheusReports, SayThatTheNodeHasNotSettled) {
  const auto unsettled = [](const char* value) {
    return decode_report(result_of(
        {kTime, kSeverity, kBoot, sample(R"("what":"unsettled","node":"gpu-01")", value)}));
  };
  EXPECT_FALSE(unsettled("1")->is_settled);
  EXPECT_TRUE(unsettled("0")->is_settled);
  EXPECT_TRUE(decode_report(result_of({kTime, kSeverity, kBoot}))->is_settled);
}

TEST(PrometheusReports, NameTheClassOfTheWorstFinding) {
  const auto finding = [](const std::string& check, const std::string& code,
                          const std::string& severity) {
    return sample(R"("what":"finding","check":")" + check + R"(","code":")" + code +
                      R"(","severity":")" + severity + '"',
                  "1");
  };
  const auto report = decode_report(result_of(
      {kTime, kSeverity, kBoot, finding("xid", "31", "monitor"), finding("xid", "79", "reboot"),
       finding("gpu", "ecc_uncorrected", "reset"), finding("gpu", "pcie_width", "monitor")}));

  ASSERT_TRUE(report);
  EXPECT_EQ(report->error_class, "XID_CRITICAL_79");
  const auto memory = decode_report(result_of(
      {kTime, kSeverity, kBoot, finding("xid", "31", "monitor"),
       finding("gpu", "recovery_action_reset", "reset"), finding("gpu", "ecc_uncorrected", "reset"),
       finding("gpu", "thermal_slowdown", "monitor")}));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->error_class, "ECC_ERROR");
  EXPECT_EQ(decode_report(result_of({kTime, kSeverity, kBoot}))->error_class, "");
}

TEST(PrometheusReports, NameTheGpusBySerialOrElseByUuid) {
  const auto gpu = [](const std::string& serial, const std::string& uuid) {
    return sample(R"("what":"gpu","serial":")" + serial + R"(","uuid":")" + uuid + '"', "1");
  };
  const auto report = decode_report(result_of(
      {kTime, kSeverity, kBoot, gpu("1651", "GPU-b"), gpu("1650", "GPU-a"), gpu("", "GPU-c"),
       gpu(std::string(200, '9'), "GPU-d"), gpu("0000000000000", "GPU-e")}));

  ASSERT_TRUE(report);
  EXPECT_THAT(report->gpus, ::testing::ElementsAre("1650", "1651", "GPU-c", "GPU-e"));
}

TEST(PrometheusReports, TakeTheWorstSeverityAndTheOldestTimeOfTwoExporters) {
  const auto report = decode_report(
      result_of({kTime, kSeverity, kBoot, sample(R"("what":"severity","pod":"b")", "4"),
                 sample(R"("what":"measured_at","pod":"b")", "1763712000")}));

  ASSERT_TRUE(report);
  EXPECT_EQ(report->severity, Severity::kIsolate);
  EXPECT_EQ(std::chrono::system_clock::to_time_t(report->measured_at), 1763712000);
}

TEST(PrometheusReports, RefuseTwoBootsAtOnce) {
  const auto report = decode_report(
      result_of({kTime, kSeverity, kBoot, sample(R"("what":"boot","boot_id":"boot-2")", "1")}));

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::kInvalid);
}

TEST(PrometheusReports, AreNoneIfAnyPartIsMissing) {
  for (const auto& samples : std::vector<std::vector<std::string>>{
           {}, {kSeverity, kBoot}, {kTime, kBoot}, {kTime, kSeverity}}) {
    const auto report = decode_report(result_of(samples));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::kNotFound);
  }
}

TEST(PrometheusReports, RefuseBrokenAnswers) {
  for (const std::string& body :
       {std::string(), std::string("{}"), std::string(R"({"status":"error"})"),
        result_of({kTime, kBoot, sample(R"("what":"severity")", "NaN")}),
        result_of({kTime, kBoot, sample(R"("what":"severity")", "1.5")}),
        result_of({kTime, kBoot, sample(R"("what":"severity")", "9")}),
        result_of({kTime, kBoot, R"({"metric":{"what":"severity"},"value":[1]})"})}) {
    EXPECT_FALSE(decode_report(body)) << body;
  }
}

TEST(PrometheusReports, AskOnceForTheNode) {
  AnsweringClient client;
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  client.say(200, result_of({kTime, kSeverity, kKernel, kBoot}));
  PrometheusReports reports("http://prometheus:9090/", client, policy, clock);

  ASSERT_TRUE(reports.latest("gpu-01"));

  ASSERT_THAT(client.requests, SizeIs(1));
  EXPECT_THAT(client.requests[0].url,
              ::testing::StartsWith("http://prometheus:9090/api/v1/query?query=label_replace"));
  EXPECT_THAT(client.requests[0].url, HasSubstr("node%3D%22gpu-01%22"));
}

TEST(PrometheusReports, SayWhichGpusOtherNodesHaveReported) {
  const auto claim = [](const std::string& what, const std::string& serial, const std::string& at) {
    return sample(R"("what":")" + what + R"(","serial":")" + serial + R"(","uuid":"GPU-a")", at);
  };

  const auto claims = decode_claims(
      result_of({claim("own", "1650", "1763712000"), claim("own", "1651", "1763712000"),
                 claim("own", "0", "1763712000"), claim("other", "1651", "1763711000"),
                 claim("other", "1651", "1763713000")}));

  ASSERT_TRUE(claims) << claims.error().message;
  EXPECT_FALSE(claims->at("1650").others_until);
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*claims->at("1651").own_since), 1763712000);
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*claims->at("1651").others_until), 1763713000);
  EXPECT_TRUE(claims->contains("GPU-a")) << "a board without a number of its own";
}

TEST(PrometheusReports, AskWhoElseHasReportedTheGpusThatTheyName) {
  AnsweringClient client;
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  client.say(200, result_of({kTime, kSeverity, kKernel, kBoot,
                             sample(R"("what":"gpu","serial":"1650","uuid":"GPU-a")", "1")}));
  PrometheusReports reports("http://prometheus:9090", client, policy, clock);

  ASSERT_TRUE(reports.latest("gpu-01"));

  ASSERT_THAT(client.requests, SizeIs(2));
  EXPECT_THAT(client.requests[1].url, HasSubstr("1650"));
}

// The query covers the reports of other nodes within the days for which attempts count.
TEST(PrometheusReports, AskForWhatOthersHaveReportedWithinDaysToo) {
  for (const char* cluster : {"", "east"}) {
    const std::string query = claims_query("gpu-01", std::vector<std::string>{"1650"}, cluster);
    const std::string others =
        "timestamp(gpuward_gpu_info{job=\"gpuward-exporter\",node!=\"gpu-01\"";
    EXPECT_THAT(query, HasSubstr("max_over_time(" + others)) << cluster;
    EXPECT_THAT(query, HasSubstr("max by (serial,uuid) (" + others)) << cluster;
    EXPECT_EQ(query.find("node=\"gpu-01\",serial=~\"1650\",cluster!~") != std::string::npos,
              *cluster != '\0');
  }
}

TEST(PrometheusReports, NameNoGpuThatWouldChangeTheQuery) {
  const auto report = decode_report(result_of(
      {kTime, kSeverity, kBoot, sample(R"("what":"gpu","serial":"1650|.*","uuid":"GPU-a")", "1")}));

  EXPECT_THAT(report->gpus, SizeIs(0));
}

TEST(PrometheusReports, NeverAskForANameThatIsNone) {
  AnsweringClient client;
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  PrometheusReports reports("http://prometheus:9090", client, policy, clock);

  EXPECT_FALSE(reports.latest("a\"} or vector(0"));
  EXPECT_THAT(client.requests, SizeIs(0));
}

TEST(PrometheusReports, LeaveAPrometheusAloneThatDidNotAnswer) {
  AnsweringClient client;
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  PrometheusReports reports("http://prometheus:9090", client, policy, clock);

  EXPECT_FALSE(reports.latest("gpu-01"));
  EXPECT_EQ(reports.latest("gpu-02").error().kind, ErrorKind::kOverloaded);
  EXPECT_THAT(client.requests, SizeIs(1));

  clock.advance(std::chrono::seconds(11));
  client.say(200, result_of({kTime, kSeverity, kKernel, kBoot}));
  EXPECT_TRUE(reports.latest("gpu-02"));
  EXPECT_TRUE(reports.latest("gpu-01"));
}

TEST(PrometheusReports, CountTheWeakestKernelEvidenceAndNoneIfItIsAbsent) {
  const auto absent = decode_report(result_of({kTime, kSeverity, kBoot}));
  const auto two = decode_report(
      result_of({kTime, kSeverity, kBoot, sample(R"("what":"confirmed_severity","pod":"a")", "4"),
                 sample(R"("what":"confirmed_severity","pod":"b")", "1")}));

  EXPECT_EQ(absent->confirmed_severity, Severity::kNone);
  EXPECT_EQ(two->confirmed_severity, Severity::kMonitor);
}

TEST(PrometheusReports, TellWhatWasMeasuredWhenAndWhatDiagnosticsFound) {
  const auto observed = [](const std::string& severity, const std::string& at) {
    return sample(R"("what":"observed","severity":")" + severity + "\"", at);
  };
  const auto report = decode_report(result_of(
      {kTime, kSeverity, kBoot, observed("reset", "1763712290"), observed("isolate", "0"),
       sample(R"("what":"diagnostics")", "4"), sample(R"("what":"diagnostics","pod":"b")", "3")}));

  ASSERT_TRUE(report);
  EXPECT_THAT(report->observed_at, SizeIs(1));
  EXPECT_EQ(std::chrono::system_clock::to_time_t(report->observed_at.at(Severity::kReset)),
            1763712290);
  EXPECT_EQ(report->diagnostics_severity, Severity::kReboot);
  // If two exporters report for the node, the older measurement counts.
  EXPECT_EQ(std::chrono::system_clock::to_time_t(
                decode_report(result_of({kTime, kSeverity, kBoot, observed("reset", "1763712290"),
                                         observed("reset", "1763712280")}))
                    ->observed_at.at(Severity::kReset)),
            1763712280);
  EXPECT_FALSE(decode_report(result_of({kTime, kSeverity, kBoot, observed("awful", "1")})));
}

TEST(PrometheusReports, DoNotSeeTheKernelLogIfAnyExporterDoesNot) {
  const std::string down = sample(R"("what":"kernel_log_up","pod":"b")", "0");

  EXPECT_FALSE(decode_report(result_of({kTime, kSeverity, kBoot}))->sees_kernel_log);
  EXPECT_FALSE(decode_report(result_of({kTime, kSeverity, kBoot, kLogUp, down}))->sees_kernel_log);
}

TEST(PrometheusReports, AreUnavailableIfPrometheusIs) {
  AnsweringClient client;
  fakes::FakeClock clock;
  CurrentPolicy policy{Policy{}};
  PrometheusReports reports("http://prometheus:9090", client, policy, clock);
  EXPECT_EQ(reports.latest("gpu-01").error().kind, ErrorKind::kUnavailable);
  clock.advance(std::chrono::seconds(11));
  client.say(302, "");
  EXPECT_EQ(reports.latest("gpu-01").error().kind, ErrorKind::kUnavailable);
}

TEST(AlertmanagerApi, AsksForAllThatFireAndTellsWhatIsSilencedOrInhibited) {
  AnsweringClient client;
  client.say(200, R"([{"labels": {"node": "a"}, "startsAt": "2026-11-21T08:04:56Z",
                       "status": {"state": "suppressed", "silencedBy": ["1"], "inhibitedBy": []}},
                      {"labels": {"node": "b"}, "startsAt": "2026-11-21T08:04:56Z",
                       "status": {"state": "active", "silencedBy": [], "inhibitedBy": []}}])");
  AlertmanagerApi api("http://alertmanager:9093/", client);

  const auto alerts = api.read(std::chrono::milliseconds(250));

  ASSERT_TRUE(alerts);
  EXPECT_TRUE((*alerts)[0].is_suppressed);
  EXPECT_FALSE((*alerts)[1].is_suppressed);

  EXPECT_EQ(client.requests[0].url,
            "http://alertmanager:9093/api/v2/alerts?active=true&silenced=true&inhibited=true");
  EXPECT_EQ(client.requests[0].timeout, std::chrono::milliseconds(250));
}

TEST(AlertmanagerApi, FailsOnAnythingButAList) {
  AnsweringClient client;
  AlertmanagerApi api("http://alertmanager:9093", client);
  EXPECT_FALSE(api.read(std::chrono::milliseconds(1)));
  client.say(500, "[]");
  EXPECT_FALSE(api.read(std::chrono::milliseconds(1)));
  client.say(200, "{}");
  EXPECT_FALSE(api.read(std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace gpuward::remediator
