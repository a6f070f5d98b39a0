// `replay` of the real program: from a file, from a Prometheus, with the nodes of a file.
#include "core/http/server/server.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ReplayCommand : public RemediatorProcess {
 protected:
  void SetUp() override {
    RemediatorProcess::SetUp();
    write("policy.yaml", "mode: cordon\nseverities:\n  reboot: [taint, cordon]\n");
    write("history.json", history(1'793'600'000));
    const auto node = [](const std::string& name) {
      return R"({"metadata":{"name":")" + name + R"(","uid":"u-)" + name +
             R"("},"status":{"capacity":{"nvidia.com/gpu":"8"}}})";
    };
    write("nodes.json", "{\"items\":[" + node("gpu-01") + "," + node("gpu-02") + "]}");
  }
  static std::string history(std::int64_t at) {
    const std::string sample = "[" + std::to_string(at) + R"(,"1"])";
    return R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":)"
           R"({"alertname":"Bad","node":"gpu-01","remediation":"reboot"},"values":[)" +
           sample + "]}]}}";
  }
  support::Process::Outcome replay(std::vector<std::string> words) {
    std::vector<std::string> argv = {kCtl, "replay", path("policy.yaml")};
    argv.insert(argv.end(), words.begin(), words.end());
    auto outcome = support::Process::run({.argv = std::move(argv)});
    EXPECT_TRUE(outcome);
    return outcome ? *outcome : support::Process::Outcome{};
  }
};

TEST_F(ReplayCommand, SaysWhatWouldHaveBeenDoneAboutAFile) {
  const auto said = replay({"--history", path("history.json"), "--nodes", path("nodes.json")});

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, AllOf(HasSubstr("gpu-01  alert  Bad fires, severity reboot"),
                                 HasSubstr("act    taint, cordon"),
                                 HasSubstr("1 alert on a cluster of 2 nodes")));
  const auto json = parse_json(
      replay({"--history", path("history.json"), "--nodes", path("nodes.json"), "-o", "json"})
          .output);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("nodes"), 2);
}

TEST_F(ReplayCommand, AsksAPrometheusSliceBySlice) {
  std::mutex mutex;
  std::vector<std::string> asked;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  const auto answer = [&](const http::Request& request) {
    const std::lock_guard lock(mutex);
    asked.push_back(request.query);
    const bool is_first = asked.size() == 1;
    return http::Response::text(
        200,
        is_first ? history(now - 20'000)
                 : R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
        "application/json");
  };
  const auto server = http::Server::start(
      options, {{.path = "/api/v1/query_range", .methods = {"GET"}, .handler = answer}});
  ASSERT_TRUE(server) << server.error().message;

  const auto said = replay({"--since=5h", "--prometheus.url",
                            "http://127.0.0.1:" + std::to_string((*server)->ports().front())});

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, HasSubstr("Bad fires"));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(asked.size(), 3U) << "two hours at a time";
}

TEST_F(ReplayCommand, NamesWhatIsWrong) {
  write("bad.json", "{}");
  struct Row {
    std::vector<std::string> words;
    std::string says;
  };
  const std::vector<Row> rows = {
      {{}, "set exactly one of them"},
      {{"--history", path("history.json"), "--prometheus.url=http://127.0.0.1:1"},
       "set exactly one of them"},
      {{"--history", path("bad.json")}, "bad.json"},
      {{"--history", path("none.json")}, "none.json"},
      {{"--history", path("history.json"), "--nodes", path("bad.json")}, "kubectl get nodes"},
      {{"--history", path("history.json"), "-o", "xml"}, "--output"},
      {{"--since=soon", "--prometheus.url=http://127.0.0.1:1"}, "--since"},
  };
  for (const Row& row : rows) {
    const auto said = replay(row.words);
    EXPECT_EQ(said.exit_code, 2) << row.says;
    EXPECT_THAT(said.error_output, HasSubstr(row.says));
  }
  EXPECT_EQ(replay({"--prometheus.url=http://127.0.0.1:1"}).exit_code, 1);
}

}  // namespace
}  // namespace gpuward::remediator
