// The features that the fake has beyond those of a real server: pages, watches, faults, its log.
// (fake_matches_real_test.cpp and tests/contract compare its answers to the real ones.)
#include "tests/fakes/fake_kube.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/fakes/custom_definition.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::fakes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FakeKubeTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<http::ClientResponse> send(const std::string& method,
                                                  const std::string& path,
                                                  const std::string& body = {}) {
    http::ClientRequest request;
    request.method = method;
    request.url = "http://fake" + path;
    request.body = body;
    request.headers = {
        {"Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json"}};
    return client_.send(request);
  }

  // All lines of a watch until it ends or `count` have come.
  std::vector<std::string> watch(const std::string& path, std::size_t count) {
    std::vector<std::string> events;
    http::ClientRequest request;
    request.url = "http://fake" + path;
    const auto end =
        client_.stream(request, std::chrono::seconds(5), {}, [&](std::string_view line) {
          const auto event = parse_json(line);
          if (!event) {
            events.emplace_back("broken");
            return true;
          }
          const Json& object = member_at(*event, "object");
          events.push_back(
              string_at(*event, "type") + " " +
              string_at(member_at(object, "metadata"), "name", string_at(object, "reason")));
          return events.size() < count;
        });
    if (!end) events.push_back("error: " + end.error().message);
    return events;
  }

  FakeClock clock_;
  FakeKube kube_{clock_};
  InProcessClient client_{kube_};
};

TEST_F(FakeKubeTest, ListsInPagesThatMeetWithoutGapOrOverlap) {
  for (int i = 0; i < 5; ++i) kube_.create("/api/v1/nodes", ready_node("n" + std::to_string(i)));
  std::vector<std::string> names;
  std::string token;
  int pages = 0;
  do {
    const Json page = kube_.get("/api/v1/nodes?limit=2&continue=" + token);
    for (const Json& item : page["items"]) names.push_back(item["metadata"]["name"]);
    token = string_at(page["metadata"], "continue");
    ++pages;
  } while (!token.empty() && pages < 10);

  EXPECT_EQ(pages, 3);
  EXPECT_THAT(names, ElementsAre("n0", "n1", "n2", "n3", "n4"));
}

TEST_F(FakeKubeTest, EndsAPageWith410OnceItsHistoryIsForgotten) {
  for (int i = 0; i < 3; ++i) kube_.create("/api/v1/nodes", ready_node("n" + std::to_string(i)));
  const Json page = kube_.get("/api/v1/nodes?limit=2");
  kube_.create("/api/v1/nodes", ready_node("n9"));
  kube_.forget_history();

  const auto next =
      send("GET", "/api/v1/nodes?limit=2&continue=" + string_at(page["metadata"], "continue"));

  ASSERT_TRUE(next);
  EXPECT_EQ(next->status, 410);
}

TEST_F(FakeKubeTest, WatchesFromARevision) {
  const std::string since = std::to_string(kube_.revision());
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.patch("/api/v1/nodes/n1", {{"metadata", {{"labels", {{"a", "b"}}}}}});
  kube_.remove("/api/v1/nodes/n1");

  EXPECT_THAT(watch("/api/v1/nodes?watch=true&resourceVersion=" + since, 3),
              ElementsAre("ADDED n1", "MODIFIED n1", "DELETED n1"));
}

TEST_F(FakeKubeTest, SaysNothingOfAPatchThatChangesNothing) {
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.patch("/api/v1/nodes/n1", {{"metadata", {{"labels", {{"a", "b"}}}}}});
  const auto revision = kube_.revision();

  kube_.patch("/api/v1/nodes/n1", {{"metadata", {{"labels", {{"a", "b"}}}}}});

  EXPECT_EQ(kube_.revision(), revision);
}

TEST_F(FakeKubeTest, ShowsWhatEntersAndLeavesASelectionAsAddedAndDeleted) {
  const std::string since = std::to_string(kube_.revision());
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.patch("/api/v1/nodes/n1", {{"metadata", {{"labels", {{"sick", "yes"}}}}}});
  kube_.patch("/api/v1/nodes/n1", {{"metadata", {{"labels", {{"sick", nullptr}}}}}});

  EXPECT_THAT(
      watch("/api/v1/nodes?watch=true&labelSelector=sick%3Dyes&resourceVersion=" + since, 2),
      ElementsAre("ADDED n1", "DELETED n1"));
}

TEST_F(FakeKubeTest, WatchWithoutARevisionBeginsWithWhatThereIs) {
  kube_.create("/api/v1/nodes", ready_node("n1"));

  EXPECT_THAT(watch("/api/v1/nodes?watch=true", 1), ElementsAre("ADDED n1"));
}

TEST_F(FakeKubeTest, TellsAWatchThatItsRevisionIsGoneInsideTheStream) {
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.forget_history();

  EXPECT_THAT(watch("/api/v1/nodes?watch=true&resourceVersion=1", 5), ElementsAre("ERROR Expired"));
}

TEST_F(FakeKubeTest, ForgetsTheOldestChangesByItself) {
  FakeKube small(clock_, {.history_window = 2});
  InProcessClient client(small);
  for (int i = 0; i < 5; ++i) small.create("/api/v1/nodes", ready_node("n" + std::to_string(i)));
  http::ClientRequest request;
  request.url = "http://fake/api/v1/nodes?watch=true&resourceVersion=2";
  std::string got;

  (void)client.stream(request, std::chrono::seconds(5), {}, [&](std::string_view line) {
    got += line;
    return true;
  });

  EXPECT_THAT(got, HasSubstr("\"code\":410"));
}

TEST_F(FakeKubeTest, CutsAWatchInTheMiddleOfALine) {
  const std::string since = std::to_string(kube_.revision());
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.create("/api/v1/nodes", ready_node("n2"));
  kube_.add_fault({.kind = FaultKind::kCutStream, .path = "/api/v1/nodes", .after_events = 1});

  EXPECT_THAT(watch("/api/v1/nodes?watch=true&resourceVersion=" + since, 5),
              ElementsAre("ADDED n1", "broken", HasSubstr("error: ")));
}

TEST_F(FakeKubeTest, ExpiresAWatchThatRuns) {
  const std::string since = std::to_string(kube_.revision());
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.create("/api/v1/nodes", ready_node("n2"));
  kube_.add_fault({.kind = FaultKind::kExpireStream, .path = "/api/v1/nodes", .after_events = 1});

  EXPECT_THAT(watch("/api/v1/nodes?watch=true&resourceVersion=" + since, 5),
              ElementsAre("ADDED n1", "ERROR Expired"));
}

TEST_F(FakeKubeTest, LosesTheAnswerToWhatItHasDone) {
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.add_fault({.kind = FaultKind::kDropAfter, .method = "PATCH", .path = "/api/v1/nodes/n1"});

  const auto answer = send("PATCH", "/api/v1/nodes/n1", R"({"spec":{"unschedulable":true}})");

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(kube_.get("/api/v1/nodes/n1")["spec"]["unschedulable"], true);
}

TEST_F(FakeKubeTest, DoesNothingIfItDropsTheRequest) {
  kube_.create("/api/v1/nodes", ready_node("n1"));
  kube_.add_fault({.kind = FaultKind::kDropBefore, .method = "PATCH"});

  EXPECT_FALSE(send("PATCH", "/api/v1/nodes/n1", R"({"spec":{"unschedulable":true}})"));
  EXPECT_FALSE(kube_.get("/api/v1/nodes/n1")["spec"].contains("unschedulable"));
}

TEST_F(FakeKubeTest, InjectsAFaultAsOftenAsToldAndAfterAsManyGoodOnes) {
  kube_.create("/api/v1/nodes", ready_node("n1"));
  const auto number = kube_.add_fault({.kind = FaultKind::kConflict,
                                       .method = "PATCH",
                                       .path = "/api/v1/nodes/.*",
                                       .times = 2,
                                       .skip = 1});
  std::vector<int> statuses;
  for (int i = 0; i < 4; ++i) {
    statuses.push_back(send("PATCH", "/api/v1/nodes/n1", "{}").value().status);
  }

  EXPECT_THAT(statuses, ElementsAre(200, 409, 409, 200));
  EXPECT_EQ(kube_.fault_hits(number), 2U);
}

TEST_F(FakeKubeTest, TellsItsOwnOverloadFromARefusalOfABudget) {
  kube_.add_fault({.kind = FaultKind::kOverloaded, .retry_after = std::chrono::seconds(3)});
  kube_.add_fault({.kind = FaultKind::kBudget});

  const auto overload = send("GET", "/api/v1/nodes").value();
  const auto refusal = send("GET", "/api/v1/nodes").value();

  EXPECT_EQ(overload.status, 429);
  EXPECT_EQ(overload.header("Retry-After"), "3");
  EXPECT_NE(overload.header("X-Kubernetes-PF-FlowSchema-UID"), "");
  EXPECT_EQ(refusal.status, 429);
  EXPECT_EQ(refusal.header("X-Kubernetes-PF-FlowSchema-UID"), "");
  EXPECT_THAT(refusal.body, HasSubstr("DisruptionBudget"));
}

TEST_F(FakeKubeTest, PutsAFailureIntoA201) {
  kube_.add_fault({.kind = FaultKind::kFailureInside});

  const auto answer = send("GET", "/api/v1/nodes").value();

  EXPECT_EQ(answer.status, 201);
  EXPECT_THAT(answer.body, HasSubstr("\"status\":\"Failure\""));
}

TEST_F(FakeKubeTest, KeepsABoundPodTerminatingUntilItsKubeletEndsIt) {
  kube_.create("/api/v1/namespaces/default/pods", pod("p1", "n1"));

  const auto first = send("DELETE", "/api/v1/namespaces/default/pods/p1").value();

  EXPECT_EQ(first.status, 200);
  EXPECT_TRUE(
      kube_.get("/api/v1/namespaces/default/pods/p1")["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(kube_.end_terminating_pods(), 1U);
  EXPECT_FALSE(kube_.has("/api/v1/namespaces/default/pods/p1"));
}

TEST_F(FakeKubeTest, AsksForATokenOnceItKnowsOne) {
  kube_.access().allow_token("secret", "alice");
  kube_.access().deny({.user = "alice", .verb = "patch", .resource = "nodes"});
  http::ClientRequest request;
  request.url = "http://fake/api/v1/nodes";

  EXPECT_EQ(client_.send(request)->status, 401);
  request.headers = {{"Authorization", "Bearer secret"}};
  EXPECT_EQ(client_.send(request)->status, 200);
  request.method = "PATCH";
  request.url += "/n1";
  const auto denied = client_.send(request).value();
  EXPECT_EQ(denied.status, 403);
  EXPECT_THAT(denied.body, HasSubstr("User \\\"alice\\\" cannot patch resource \\\"nodes\\\""));
}

TEST_F(FakeKubeTest, RefusesForgedApprovalsUnlessItIsToldNotTo) {
  kube_.create(kDefinitions, custom_definition({.group = "gpuward.dev",
                                                .version = "v1alpha1",
                                                .kind = "Remediation",
                                                .plural = "remediations"}));
  const std::string all = "/apis/gpuward.dev/v1alpha1/remediations";
  kube_.create(all, {{"metadata", {{"name", "r"}}}});
  const auto says = [&](const std::string& annotations) {
    return send("PATCH", all + "/r", R"({"metadata":{"annotations":)" + annotations + "}}")->status;
  };
  const std::string forged = R"({"gpuward.dev/approve":"t","gpuward.dev/approved-by":"alice"})";
  const std::string own =
      R"({"gpuward.dev/approve":"t","gpuward.dev/approved-by":"anonymous-admin"})";

  EXPECT_EQ(says(forged), 403);
  EXPECT_EQ(says(own), 200);
  EXPECT_EQ(says(R"({"gpuward.dev/approve":null,"gpuward.dev/approved-by":null})"), 200);
  EXPECT_EQ(says(R"({"gpuward.dev/pause":"true"})"), 200);
  kube_.guard_approvals(false);
  EXPECT_EQ(says(forged), 200);
}

TEST_F(FakeKubeTest, RemembersWhatItWasAsked) {
  (void)send("PATCH", "/api/v1/nodes/n1?dryRun=All", "{}");

  const auto asked = kube_.requests("PATCH", "/api/v1/nodes");

  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].path, "/api/v1/nodes/n1");
  EXPECT_EQ(asked[0].query, "dryRun=All");
  EXPECT_EQ(asked[0].content_type, "application/merge-patch+json");
  EXPECT_EQ(asked[0].body, "{}");
  EXPECT_EQ(asked[0].status, 404);
}

TEST_F(FakeKubeTest, AnswersBrokenRequestsWithoutBreaking) {
  for (const char* path :
       {"/", "/api", "/api/", "/apis//", "/api/v1/namespaces", "/api/v1/namespaces//pods",
        "/apis/a/b/c/d/e/f/g", "/api/v1/nodes?limit=-1",
        "/api/v1/nodes?watch=true&resourceVersion=x"}) {
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
      for (const char* body : {"", "[]", "null", "{\"metadata\":5}", "{\"metadata\":null}",
                               "{\"metadata\":{\"name\":\"x\"},\"spec\":5,\"status\":[]}",
                               "{\"metadata\":{\"labels\":[1]}}", "{"}) {
        const auto answer = send(method, path, body);
        ASSERT_TRUE(answer) << method << " " << path << " " << body;
        EXPECT_NE(answer->status, 0);
      }
    }
  }
}

}  // namespace
}  // namespace gpuward::fakes
