// Recorded queries to a real Loki and its answers: gpuward's reading of them, and that the fake and
// a newer real Loki answer the same.
#include <gmock/gmock.h>

#include "core/kube/names.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/inbox/sources/loki_api.h"
#include "tests/loki/target.h"
#include "tests/places.inc"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

constexpr std::int64_t kFirst = 1'000'000'000'000'000'000;
constexpr std::chrono::minutes kAgo{5};

Json recordings() {
  const auto text =
      read_file(std::string(GPUWARD_SOURCE_DIR) + "/tests/testdata/loki/exchanges.json");
  EXPECT_TRUE(text.has_value());
  const auto json = parse_json(text.value_or("[]"));
  EXPECT_TRUE(json.has_value());
  return json ? *json : Json::array();
}

// Sends the same lines as for the recording, `moved` later.
void feed(loki::Target& loki, std::int64_t moved) {
  const std::int64_t first = kFirst + moved;
  const fakes::FakeLoki::Labels one = {{"k8s_daemonset_name", "dmesg"},
                                       {"k8s_node_name", "gpu-01"}};
  const fakes::FakeLoki::Labels two = {{"k8s_daemonset_name", "dmesg"},
                                       {"k8s_node_name", "gpu-02"}};
  loki.push(one, first,
            "[12.3] NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has "
            "fallen off the bus.");
  loki.push(one, first, "[12.3] another line at the same nanosecond");
  loki.push(one, first + 1'000'000'000,
            "NVRM: Xid (PCI:0000:4e:00): 31, pid=77, name=python, Ch 00000008");
  loki.push(two, first + 500'000'000,
            "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress "
            "non-posted PRIV error");
  loki.push(two, first + 500'000'001, "usb 1-1: new device");
  loki.push(
      {{"k8s_namespace_name", "train"}, {"k8s_node_name", "gpu-03"}, {"k8s_pod_name", "job-0"}},
      first + 700'000'000, "RuntimeError: CUDA error: invalid device ordinal");
}

std::vector<std::string> lines_in(const std::string& body, std::int64_t moved) {
  std::vector<std::string> found;
  const auto lines = decode_log_lines(body);
  EXPECT_TRUE(lines.has_value());
  if (!lines) return found;
  for (const LogLine& line : *lines)
    found.push_back(std::to_string(line.at - moved) + " " + line.labels.at("k8s_node_name") + " " +
                    line.text);
  return found;
}

http::ClientRequest request_of(const Json& recording, const std::string& url, std::int64_t moved) {
  const Json& asked = recording["request"];
  const auto time = [&](const char* name) {
    return std::to_string(asked[name].get<std::int64_t>() + moved);
  };
  http::ClientRequest request;
  request.url = url + "/loki/api/v1/query_range?direction=forward&query=" +
                kube::percent_encode(asked["query"].get<std::string>()) +
                "&start=" + time("start") + "&end=" + time("end") +
                "&limit=" + asked["limit"].dump();
  const std::string tenant = recording["tenant"];
  if (!tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", tenant);
  return request;
}

class LokiRecordings : public ::testing::TestWithParam<const char*> {};
GPUWARD_ON_LOKI(LokiRecordings, loki::both_kinds());

TEST_P(LokiRecordings, AreAnsweredByTheFakeAsByTheRealOne) {
  SystemClock clock;
  const auto loki = loki::start_target(GetParam(), clock);
  // A real Loki refuses old lines.
  const std::chrono::nanoseconds now = clock.wall().time_since_epoch();
  const std::int64_t moved = now.count() - kFirst - std::chrono::nanoseconds(kAgo).count();
  feed(*loki, moved);
  const Json all = recordings();
  ASSERT_THAT(all, SizeIs(9));
  for (const Json& recording : all) {
    SCOPED_TRACE(recording["name"].get<std::string>());
    const auto answer = loki->client().send(request_of(recording, loki->url(), moved));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, recording["status"].get<int>());
    if (answer->status == 200) {
      EXPECT_THAT(lines_in(answer->body, moved),
                  UnorderedElementsAreArray(lines_in(dump_json(recording["answer"]), 0)));
    } else if (recording["name"] == "bad_query") {
      EXPECT_THAT(answer->body, StartsWith("parse error"));
    } else {
      EXPECT_EQ(trim(answer->body), trim(recording["answer"].get<std::string>()));
    }
  }
}

TEST(LokiAnswers, AreReadByTimeAcrossTheStreams) {
  for (const Json& recording : recordings()) {
    if (recording["name"] != "end_is_exclusive") continue;
    const auto lines = decode_log_lines(dump_json(recording["answer"]));
    ASSERT_TRUE(lines.has_value());
    std::vector<std::int64_t> times;
    for (const LogLine& line : *lines) times.push_back(line.at - kFirst);
    EXPECT_THAT(times, ElementsAre(0, 0, 500'000'000, 500'000'001));
  }
}

// Its limits_config has more limits than the fake; the texts are from its sources, 3.7.8.
TEST(LokiAnswers, SayWhetherFewerLinesOrAShorterTimeWouldHelp) {
  const auto kind_of = [](int status, const std::string& words) {
    AnsweringClient client;
    client.say(status, words);
    return LokiApi({.url = "http://loki"}, client).ask({}).error().kind;
  };
  EXPECT_EQ(kind_of(400,
                    "max entries limit per query exceeded, limit > max_entries_limit_per_query"
                    " (1000 > 500)"),
            ErrorKind::kTooLarge);
  for (const char* words :
       {"the query time range exceeds the limit (query length: 1h12m0s, limit: 1h)",
        "the query would read too many bytes (query: 2GB, limit: 1GB); consider adding",
        "query too large to execute on a single querier: (query: 2GB, limit: 1GB); consider",
        "request timed out, decrease the duration of the request or add more label matchers"}) {
    EXPECT_EQ(kind_of(400, words), ErrorKind::kTimeout) << words;
  }
  EXPECT_EQ(kind_of(429, "too many outstanding requests"), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace gpuward::remediator
