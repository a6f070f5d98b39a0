// The facts that a replica publishes about its sources: the lists of nodes, and one entry in a
// ConfigMap.
#include "remediator/inbox/connection_watch.h"

#include "core/runtime/json.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

// A Prometheus with the given samples, and an Alertmanager.
class Sources final : public http::Client {
 public:
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    if (!answers) return fail(ErrorKind::kUnavailable, "connection refused");
    http::ClientResponse response;
    response.status = 200;
    if (request.url.starts_with("http://am/")) {
      response.body = silenced;
      return response;
    }
    const bool is_query = request.url.find("/api/v1/query") != std::string::npos;
    response.body =
        is_query ? R"({"status":"success","data":{"result":[)" + samples + "]}}"
                 : R"({"status":"success","data":{"activeAlertmanagers":[{"url":"http://a"}]}})";
    return response;
  }
  Result<http::ClientResponse> stream(const http::ClientRequest&, std::chrono::milliseconds,
                                      std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return fail(ErrorKind::kInternal, "not used");
  }
  void add(const std::string& what, const std::string& node, int value) {
    if (!samples.empty()) samples += ",";
    samples += R"({"metric":{"what":")" + what + R"(")" +
               (node.empty() ? "" : R"(,"node":")" + node + R"(")") + R"(},"value":[1,")" +
               std::to_string(value) + R"("]})";
  }
  std::string samples, silenced = "[]";
  bool answers = true;
};

class ConnectionWatchTest : public ClusterTest {
 protected:
  ConnectionWatchTest() {
    kube_.patch_status("/api/v1/nodes/gpu-01",
                       {{"status", {{"capacity", {{"nvidia.com/gpu", "8"}}}}}});
    clock_.advance(std::chrono::hours(24 * 365));  // no node is new
    catch_up(*replica_);
    watch_ = make_watch("a");
  }
  std::unique_ptr<ConnectionWatch> make_watch(const std::string& replica) {
    return std::make_unique<ConnectionWatch>(
        ConnectionParts{.probe = {"http://p", &sources_, "http://am", &sources_, policy_},
                        .calls = [this] { return calls_; },
                        .policy = policy_,
                        .view = replica_->view,
                        .api = api_,
                        .state_namespace = "default",
                        .replica = replica,
                        .clock = clock_,
                        .log = log_});
  }
  PrometheusFacts look() {
    const auto looked = watch_->look();
    EXPECT_TRUE(looked) << looked.error().message;
    return *facts().prometheus;
  }
  Connections facts() {
    return *newest_of(published().get<std::map<std::string, std::string>>(), clock_.wall());
  }
  Json published() { return kube_.get(std::string(kMaps) + "/gpuward-sources")["data"]; }

  Sources sources_;
  WebhookCalls calls_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  std::unique_ptr<ConnectionWatch> watch_;
};

TEST_F(ConnectionWatchTest, NamesGpuNodesThatPrometheusDoesNotReadOnceThatLasts) {
  EXPECT_THAT(look().without_target.names, IsEmpty());
  clock_.advance(minutes(15));
  EXPECT_THAT(look().without_target.names, ElementsAre("gpu-01"));
  sources_.add("up", "gpu-01", 0);
  EXPECT_THAT(look().without_target.names, IsEmpty());
  clock_.advance(minutes(15));
  EXPECT_THAT(look().down.names, ElementsAre("gpu-01"));
}

TEST_F(ConnectionWatchTest, LeavesOutNodesThatAreAway) {
  add_node("gpu-02");
  kube_.patch_status("/api/v1/nodes/gpu-02",
                     {{"status", {{"capacity", {{"nvidia.com/gpu", "8"}}}}}});
  catch_up(*replica_);
  (void)look();
  kube_.patch_status(
      "/api/v1/nodes/gpu-02",
      {{"status", {{"conditions", Json::array({{{"type", "Ready"}, {"status", "Unknown"}}})}}}});
  ASSERT_TRUE(take({signal()}));
  catch_up(*replica_);
  (void)look();
  clock_.advance(minutes(20));
  EXPECT_EQ(look().without_target.count, 0U);
}

TEST_F(ConnectionWatchTest, NamesAFindingWithoutAnAlertOnlyOnceItLasts) {
  sources_.add("up", "gpu-01", 1);
  sources_.add("severity", "gpu-01", 3);
  EXPECT_THAT(look().unalerted.names, IsEmpty());
  clock_.advance(minutes(3));
  EXPECT_THAT(look().unalerted.names, ElementsAre("gpu-01"));
  sources_.add("alert", "gpu-01", 1);
  EXPECT_THAT(look().unalerted.names, IsEmpty());
}

TEST_F(ConnectionWatchTest, NamesAnAlertWithoutARemediationOnlyOnceItLasts) {
  sources_.add("alert", "gpu-01", 1);
  EXPECT_THAT(look().unrecorded.names, IsEmpty());
  clock_.advance(minutes(3));
  EXPECT_THAT(look().unrecorded.names, ElementsAre("gpu-01"));
  ASSERT_TRUE(take({signal()}));
  catch_up(*replica_);
  EXPECT_THAT(look().unrecorded.names, IsEmpty());
}

TEST_F(ConnectionWatchTest, LeavesOutASilencedAlertAndNodesOfOthers) {
  sources_.add("alert", "gpu-01", 1);
  sources_.add("alert", "node-of-another-cluster", 1);
  sources_.silenced = R"([{"labels":{"node":"gpu-01"}}])";
  (void)look();
  clock_.advance(minutes(3));
  EXPECT_THAT(look().unrecorded.names, IsEmpty());
}

// The alert is not about the machine of a closed Remediation.
TEST_F(ConnectionWatchTest, TakesTheRecordOfAPastMachineForNone) {
  ASSERT_TRUE(take({signal()}));
  catch_up(*replica_);
  Remediation past = remediation();
  past.status.phase = Phase::kSuperseded;
  replica_->view.remove_remediation(past.name);
  replica_->view.put_remediation(past);
  sources_.add("alert", "gpu-01", 1);
  (void)look();
  clock_.advance(minutes(3));
  EXPECT_THAT(look().unrecorded.names, ElementsAre("gpu-01"));
}

TEST_F(ConnectionWatchTest, PublishesAFailureOfPrometheusOnlyOnceItLasts) {
  sources_.add("up", "gpu-01", 1);
  sources_.add("heartbeat", "", 1);
  EXPECT_EQ(look().error, "");
  sources_.answers = false;
  clock_.advance(minutes(2));
  EXPECT_EQ(look().error, "");
  clock_.advance(minutes(1));
  EXPECT_THAT(look().error, HasSubstr("connection refused"));
}

TEST_F(ConnectionWatchTest, ContinuesTheCallsOfTheContainerBefore) {
  calls_.heartbeat = WebhookCall{clock_.wall(), "gpuward", {}};
  (void)look();
  watch_ = make_watch("a");
  calls_ = {};
  (void)look();
  EXPECT_TRUE(facts().calls.heartbeat);
}

TEST_F(ConnectionWatchTest, KeepsFewEntriesAndNoneOfTheFuture) {
  Connections ahead{.replica = "ahead", .at = clock_.wall() + std::chrono::hours(48)};
  kube_.create(kMaps, {{"metadata", {{"name", kSourcesMap}}},
                       {"data", {{"ahead", dump_json(to_json(ahead))}}}});
  for (int i = 0; i < 12; ++i) {
    watch_ = make_watch("r" + std::to_string(i));
    clock_.advance(seconds(1));
    (void)look();
  }
  EXPECT_THAT(published(), SizeIs(8));
  EXPECT_FALSE(published().contains("ahead"));
  EXPECT_TRUE(published().contains("r11"));
}

TEST_F(ConnectionWatchTest, SaysWhyASourceDoesNotAnswer) {
  sources_.answers = false;
  EXPECT_THAT(look().error, HasSubstr("connection refused"));
  EXPECT_THAT(facts().alertmanager->error, HasSubstr("connection refused"));
}

TEST_F(ConnectionWatchTest, WritesAChangeAtOnceAndTheTimesOnceAMinute) {
  sources_.add("up", "gpu-01", 1);
  (void)look();
  kube_.clear_requests();
  clock_.advance(seconds(20));
  calls_.any = WebhookCall{.at = clock_.wall(), .receiver = "gpuward", .sender = {}};
  (void)look();
  EXPECT_EQ(published()["a"].get<std::string>().find("\"called\"") != std::string::npos, true);
  kube_.clear_requests();
  calls_.any->at = clock_.wall() + seconds(1);
  clock_.advance(seconds(20));
  (void)look();
  EXPECT_THAT(kube_.requests(), IsEmpty());
  clock_.advance(seconds(60));
  (void)look();
  EXPECT_THAT(kube_.requests(), ::testing::Not(IsEmpty()));
}

TEST_F(ConnectionWatchTest, KeepsTheEntryOfAnotherReplicaUntilThatHasLongEnded) {
  (void)look();
  clock_.advance(minutes(30));
  watch_ = make_watch("b");
  (void)look();
  EXPECT_THAT(published(), SizeIs(2));
  clock_.advance(minutes(31));
  (void)look();
  EXPECT_THAT(published(), SizeIs(1));
  EXPECT_TRUE(published().contains("b"));
}

TEST_F(ConnectionWatchTest, SaysWhichRequestWasRefusedLast) {
  watch_->note_answer(200);
  (void)look();
  EXPECT_FALSE(facts().refused);
  watch_->note_answer(401);
  (void)look();
  EXPECT_EQ(facts().refused->status, 401);
}

TEST_F(ConnectionWatchTest, SaysThatTheServerRefusesTheConfigMap) {
  kube_.add_fault({.kind = fakes::FaultKind::kForbidden,
                   .path = std::string(kMaps) + "/gpuward-sources",
                   .times = -1});
  const auto looked = watch_->look();
  EXPECT_THAT(looked.error().message, HasSubstr("gpuward-sources"));
}

}  // namespace
}  // namespace gpuward::remediator
