// What we make of the answers of a real Loki, and the fake held against them.
#include <gmock/gmock.h>

#include "core/kube/names.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/sources/loki_api.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_loki.h"
#include "tests/places.inc"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

constexpr std::int64_t kFirst = 1'000'000'000'000'000'000;

Json recordings() {
  const auto text =
      read_file(std::string(GPUWARD_SOURCE_DIR) + "/tests/testdata/loki/exchanges.json");
  EXPECT_TRUE(text.has_value());
  const auto json = parse_json(text.value_or("[]"));
  EXPECT_TRUE(json.has_value());
  return json ? *json : Json::array();
}

// As the real one was fed.
void feed(fakes::FakeLoki& loki) {
  const fakes::FakeLoki::Labels one = {{"k8s_daemonset_name", "dmesg"},
                                       {"k8s_node_name", "gpu-01"}};
  const fakes::FakeLoki::Labels two = {{"k8s_daemonset_name", "dmesg"},
                                       {"k8s_node_name", "gpu-02"}};
  loki.push(one, kFirst,
            "[12.3] NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has "
            "fallen off the bus.");
  loki.push(one, kFirst, "[12.3] another line at the same nanosecond");
  loki.push(one, kFirst + 1'000'000'000,
            "NVRM: Xid (PCI:0000:4e:00): 31, pid=77, name=python, Ch 00000008");
  loki.push(two, kFirst + 500'000'000,
            "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress "
            "non-posted PRIV error");
  loki.push(two, kFirst + 500'000'001, "usb 1-1: new device");
  loki.push(
      {{"k8s_namespace_name", "train"}, {"k8s_node_name", "gpu-03"}, {"k8s_pod_name", "job-0"}},
      kFirst + 700'000'000, "RuntimeError: CUDA error: invalid device ordinal");
}

std::vector<std::string> lines_in(const std::string& body) {
  std::vector<std::string> found;
  const auto lines = decode_log_lines(body);
  EXPECT_TRUE(lines.has_value());
  if (!lines) return found;
  for (const LogLine& line : *lines)
    found.push_back(std::to_string(line.at) + " " + line.labels.at("k8s_node_name") + " " +
                    line.text);
  return found;
}

http::ClientRequest request_of(const Json& recording) {
  const Json& asked = recording["request"];
  http::ClientRequest request;
  request.url = "http://loki/loki/api/v1/query_range?direction=forward&query=" +
                kube::percent_encode(asked["query"].get<std::string>()) +
                "&start=" + asked["start"].dump() + "&end=" + asked["end"].dump() +
                "&limit=" + asked["limit"].dump();
  const std::string tenant = recording["tenant"];
  if (!tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", tenant);
  return request;
}

TEST(LokiRecordings, AreAnsweredByTheFakeAsByTheRealOne) {
  fakes::FakeClock clock;
  fakes::FakeLoki loki(clock);
  loki.require_tenant("gpus");
  feed(loki);
  const Json all = recordings();
  ASSERT_THAT(all, SizeIs(9));
  for (const Json& recording : all) {
    SCOPED_TRACE(recording["name"].get<std::string>());
    const auto answer = loki.send(request_of(recording));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, recording["status"].get<int>());
    if (answer->status != 200) continue;
    EXPECT_THAT(lines_in(answer->body),
                UnorderedElementsAreArray(lines_in(dump_json(recording["answer"]))));
  }
}

TEST(LokiRecordings, AreReadByTimeAcrossTheStreams) {
  for (const Json& recording : recordings()) {
    if (recording["name"] != "end_is_exclusive") continue;
    const auto lines = decode_log_lines(dump_json(recording["answer"]));
    ASSERT_TRUE(lines.has_value());
    std::vector<std::int64_t> times;
    for (const LogLine& line : *lines) times.push_back(line.at - kFirst);
    EXPECT_THAT(times, ElementsAre(0, 0, 500'000'000, 500'000'001));
  }
}

}  // namespace
}  // namespace gpuward::remediator
