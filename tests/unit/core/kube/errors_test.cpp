#include "core/kube/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::kube {
namespace {

Error classified(const http::ClientResponse& response) {
  const auto body = parse_json(response.body);
  return classify(response, body ? *body : Json());
}

struct Row {
  int code;
  const char* reason;
  ErrorKind kind;
};

TEST(Errors, AreToldApartByReasonFirst) {
  const Row rows[] = {
      {404, "NotFound", ErrorKind::kNotFound},
      {409, "AlreadyExists", ErrorKind::kAlreadyExists},
      {409, "Conflict", ErrorKind::kConflict},
      {401, "Unauthorized", ErrorKind::kUnauthenticated},
      {403, "Forbidden", ErrorKind::kForbidden},
      {410, "Gone", ErrorKind::kGone},
      {410, "Expired", ErrorKind::kGone},
      {422, "Invalid", ErrorKind::kInvalid},
      {400, "BadRequest", ErrorKind::kInvalid},
      {405, "MethodNotAllowed", ErrorKind::kInvalid},
      {415, "UnsupportedMediaType", ErrorKind::kInvalid},
      {429, "TooManyRequests", ErrorKind::kOverloaded},
      {503, "ServiceUnavailable", ErrorKind::kUnavailable},
      {500, "ServerTimeout", ErrorKind::kUnavailable},
      {500, "InternalError", ErrorKind::kUnavailable},
      {504, "Timeout", ErrorKind::kTimeout},
      {413, "RequestEntityTooLarge", ErrorKind::kTooLarge},
      {500, "Conflict", ErrorKind::kConflict},  // the reason wins
  };
  for (const Row& row : rows)
    EXPECT_EQ(classified(failure(row.code, row.reason)).kind, row.kind) << row.code << row.reason;
}

TEST(Errors, AreToldApartByCodeIfThereIsNoStatus) {
  const Row rows[] = {
      {401, "", ErrorKind::kUnauthenticated},
      {403, "", ErrorKind::kForbidden},
      {404, "", ErrorKind::kNotFound},
      {409, "", ErrorKind::kConflict},
      {410, "", ErrorKind::kGone},
      {413, "", ErrorKind::kTooLarge},
      {422, "", ErrorKind::kInvalid},
      {429, "", ErrorKind::kOverloaded},
      {500, "", ErrorKind::kUnavailable},
      {502, "", ErrorKind::kUnavailable},
      {503, "", ErrorKind::kUnavailable},
      {504, "", ErrorKind::kTimeout},
      {302, "", ErrorKind::kInternal},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(classified(answer(row.code, "<html>")).kind, row.kind) << row.code;
    EXPECT_EQ(classified(failure(row.code, "SomethingNew")).kind, row.kind) << row.code;
  }
}

TEST(Errors, ABudgetThatSaysNotNowIsNoOverload) {
  const auto error = classified(
      answer(429,
             R"({"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429,
          "message":"Cannot evict pod as it would violate the pod's disruption budget.",
          "details":{"retryAfterSeconds":10,"causes":[{"reason":"DisruptionBudget","message":"needs 1"}]}})",
             {{"X-Kubernetes-Pf-Flowschema-Uid", "f"}}));
  EXPECT_EQ(error.kind, ErrorKind::kBlocked);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(10));
}

// KubeVirt's webhook denies an eviction like this. Other webhooks add a reason.
TEST(Errors, AWebhookThatDeniesWith429IsNoOverload) {
  for (const char* reason : {"", "TooManyRequests"}) {
    const Json status = {
        {"kind", "Status"},
        {"status", "Failure"},
        {"reason", reason},
        {"code", 429},
        {"message",
         "admission webhook \"virt-launcher-eviction-interceptor.kubevirt.io\" denied the request: "
         "VMI vm-0 is configured with an eviction strategy but is not live-migratable"}};
    const auto error = classified(answer(429, dump_json(status)));
    EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
    EXPECT_THAT(error.message, ::testing::HasSubstr("not live-migratable"));
  }
}

TEST(Errors, FairnessSaysBackOffWithAHeader) {
  const auto error =
      classified(answer(429, "Too many requests, please try again later.\n",
                        {{"Retry-After", "3"}, {"X-Kubernetes-Pf-Flowschema-Uid", "f"}}));
  EXPECT_EQ(error.kind, ErrorKind::kOverloaded);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(3));
}

TEST(Errors, TwoBudgetsOnAPodAreARefusalHoweverTheyAreWrapped) {
  const std::string body =
      R"({"kind":"Status","status":"Failure","code":500,"message":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})";
  EXPECT_EQ(classified(answer(500, body)).kind, ErrorKind::kRefused);
  const auto created = answer(201, body);
  const auto hidden = failure_in(created, *parse_json(body));
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->kind, ErrorKind::kRefused);
}

TEST(Errors, ASuccessIsNoFailure) {
  const auto json = parse_json(R"({"kind":"Status","status":"Success"})");
  EXPECT_FALSE(failure_in(answer(201, ""), *json));
  EXPECT_FALSE(failure_in(answer(200, ""), *parse_json(R"({"kind":"Pod","status":"Failure"})")));
}

TEST(Errors, ACacheThatIsBehindMeansListAgain) {
  const auto error = classified(answer(504, R"({"kind":"Status","reason":"Timeout","code":504,
      "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})"));
  EXPECT_EQ(error.kind, ErrorKind::kGone);
}

TEST(Errors, APatchForAnotherUidIsAConflict) {
  const auto error = classified(answer(422, R"({"kind":"Status","reason":"Invalid","code":422,
      "details":{"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"}]}})"));
  EXPECT_EQ(error.kind, ErrorKind::kConflict);
}

TEST(Errors, TakeTheLongerOfBothWaitsAndBoundIt) {
  const std::string body =
      R"({"kind":"Status","reason":"ServerTimeout","code":500,"details":{"retryAfterSeconds":2}})";
  EXPECT_EQ(classified(answer(500, body, {{"retry-after", "7"}})).retry_after,
            std::chrono::seconds(7));
  EXPECT_EQ(
      classified(answer(500, body, {{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}})).retry_after,
      std::chrono::seconds(2));
  EXPECT_EQ(classified(answer(503, "", {{"Retry-After", "999999999"}})).retry_after,
            std::chrono::hours(1));
}

TEST(Errors, SayWhatTheServerSaidAndNeverQuoteStrangers) {
  EXPECT_EQ(classified(failure(403, "Forbidden", "nodes is forbidden")).message,
            "HTTP 403 Forbidden: nodes is forbidden");
  const auto foreign =
      classified(answer(502, "<html>Bearer secret</html>", {{"Content-Type", "text/html"}}));
  EXPECT_EQ(foreign.message.find("secret"), std::string::npos);
  EXPECT_NE(foreign.message.find("text/html"), std::string::npos);
}

TEST(Errors, SurviveStatusesOfTheWrongShape) {
  for (const char* body :
       {R"({"kind":"Status","code":"x","reason":5,"details":[1],"message":{}})",
        R"({"kind":"Status","details":{"causes":{"a":1},"retryAfterSeconds":-4}})", "[]", "null"}) {
    EXPECT_EQ(classified(answer(500, body)).kind, ErrorKind::kUnavailable) << body;
  }
}

}  // namespace
}  // namespace gpuward::kube
