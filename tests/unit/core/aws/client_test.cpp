#include "core/aws/client.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::aws {
namespace {

using kube::answer;
using std::chrono::minutes;

std::string refusal_text(const std::string& code, const std::string& message = "no") {
  return "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
         "</Message></Error></Errors><RequestID>r-1</RequestID></Response>";
}

class AwsClientTest : public ::testing::Test {
 protected:
  static AwsEnvironment environment() {
    return {.variables = {{"AWS_ACCESS_KEY_ID", "AKID"},
                          {"AWS_SECRET_ACCESS_KEY", "s3cret"},
                          {"AWS_SESSION_TOKEN", "t0ken"},
                          {"AWS_REGION", "eu-west-1"}}};
  }
  Result<XmlElement> reboot() {
    return client.query({.service = kEc2,
                         .action = "RebootInstances",
                         .version = "2016-11-15",
                         .parameters = {{"InstanceId.1", "i-1"}}});
  }

  kube::ScriptedClient http;
  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  AwsClient client{http, environment(), clock};
};

TEST_F(AwsClientTest, AQueryIsASignedForm) {
  http.then(
      answer(200, "<RebootInstancesResponse><return>true</return></RebootInstancesResponse>"));
  const auto root = reboot();
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->text_at("return"), "true");
  EXPECT_EQ(http.requests[0].method, "POST");
  EXPECT_EQ(http.requests[0].url, "https://ec2.eu-west-1.amazonaws.com/");
  EXPECT_EQ(http.requests[0].body, "Action=RebootInstances&Version=2016-11-15&InstanceId.1=i-1");
  EXPECT_EQ(http.header(0, "Host"), "ec2.eu-west-1.amazonaws.com");
  EXPECT_EQ(http.header(0, "X-Amz-Date"), "20260101T000000Z");
  EXPECT_EQ(http.header(0, "X-Amz-Security-Token"), "t0ken");
  EXPECT_EQ(
      http.header(0, "Authorization")
          .find("AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/ec2/aws4_request, "
                "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature="),
      0U);
}

TEST_F(AwsClientTest, AQuestionThatIsStoppedIsNotAskedAgain) {
  std::stop_source stop;
  stop.request_stop();
  http.then(answer(503, refusal_text("Throttling")));
  const auto asked =
      client.call({.service = kBedrockRuntime, .what = "InvokeModel", .stop = stop.get_token()});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(AwsClientTest, AFormHasAPlusForABlankAndNothingElse) {
  http.then(answer(200, "<a/>"));
  ASSERT_TRUE(client.query({.service = kSns,
                            .action = "Publish",
                            .version = "v",
                            .parameters = {{"Message", "a b+c%20 d\n"}}}));
  EXPECT_EQ(http.requests[0].body, "Action=Publish&Version=v&Message=a+b%2Bc%2520+d%0A");
}

TEST_F(AwsClientTest, ACallMayGoToAnotherRegionPathAndService) {
  http.then(answer(202, ""));
  ASSERT_TRUE(client.call({.service = kLambda,
                           .what = "Invoke",
                           .path = "/2015-03-31/functions/tell/invocations",
                           .headers = {{"X-Amz-Invocation-Type", "Event"}},
                           .body = "{}",
                           .region = "us-west-2"}));
  EXPECT_EQ(http.requests[0].url,
            "https://lambda.us-west-2.amazonaws.com/2015-03-31/functions/tell/invocations");
  EXPECT_EQ(http.header(0, "X-Amz-Invocation-Type"), "Event");
}

TEST_F(AwsClientTest, ARefusalHasCodeMessageAndRequest) {
  http.then(answer(403, refusal_text("UnauthorizedOperation", "You are not authorized")));
  const auto root = reboot();
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().kind, ErrorKind::kForbidden);
  EXPECT_EQ(root.error().message,
            "EC2 RebootInstances: UnauthorizedOperation: You are not authorized");
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(AwsClientTest, ThrottlingIsWaitedForWithNewSignatures) {
  http.then(answer(503, refusal_text("RequestLimitExceeded")));
  http.then(answer(503, refusal_text("SlowDown")));
  http.then(answer(200, "<a/>"));
  const auto before = clock.wall();
  ASSERT_TRUE(reboot());
  EXPECT_GE(clock.wall() - before, std::chrono::milliseconds(375));
  EXPECT_EQ(http.requests.size(), 3U);
}

TEST_F(AwsClientTest, ThrottlingWithoutEndIsSaid) {
  for (int i = 0; i < 5; ++i) http.then(answer(503, refusal_text("RequestLimitExceeded", "slow")));
  const auto root = reboot();
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(root.error().message, "EC2 RebootInstances: RequestLimitExceeded: slow");
  EXPECT_EQ(http.unused(), 0U);
}

TEST_F(AwsClientTest, WhatMayHaveBeenDoneIsNotAskedForAgain) {
  http.then_fail(ErrorKind::kTimeout);
  EXPECT_EQ(reboot().error().kind, ErrorKind::kTimeout);
  http.then(answer(500, refusal_text("InternalError")));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnavailable);
  http.then(answer(502, "<html>"));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnavailable);
  http.then(answer(200, "cut o"));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(http.requests.size(), 4U);
  EXPECT_TRUE(http.requests[0].own_connection) << "nor by curl itself";
}

TEST_F(AwsClientTest, AClockThatIsWrongIsCorrectedOnce) {
  const auto refused = [this](const std::string& date) {
    http.then(answer(400, refusal_text("RequestExpired"), {{"Date", date}}));
  };
  refused("Thu, 01 Jan 2026 02:00:00 GMT");
  http.then(answer(200, "<a/>"));
  ASSERT_TRUE(reboot());
  EXPECT_EQ(http.header(1, "X-Amz-Date"), "20260101T020000Z");
  http.then(answer(200, "<a/>"));
  ASSERT_TRUE(reboot());
  EXPECT_EQ(http.header(2, "X-Amz-Date"), "20260101T020000Z");
  refused("Thu, 01 Jan 2026 02:00:01 GMT");
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnauthenticated);
}

TEST_F(AwsClientTest, AWrongSignatureAtTheRightTimeIsNotRepeated) {
  http.then(answer(403, refusal_text("SignatureDoesNotMatch"),
                   {{"Date", "Thu, 01 Jan 2026 00:00:03 GMT"}}));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnauthenticated);
  http.then(answer(403, refusal_text("SignatureDoesNotMatch"), {{"Date", "nonsense"}}));
  EXPECT_EQ(reboot().error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(http.requests.size(), 2U);
}

// EC2 says RequestExpired for ExpiredToken of other services, and AuthFailure for a deleted key.
TEST_F(AwsClientTest, KeysThatAwsDoesNotTakeAreLookedUpAgain) {
  const support::TempDir folder;
  const auto write = [&](const std::string& id) {
    return folder.write("credentials",
                        "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = s\n");
  };
  AwsClient of_file(http,
                    {.variables = {{"AWS_SHARED_CREDENTIALS_FILE", write("AKID0").string()},
                                   {"AWS_CONFIG_FILE", (folder / "config").string()},
                                   {"AWS_REGION", "eu-west-1"}}},
                    clock);
  const auto looks = [&] {
    return of_file.query({.service = kEc2, .action = "Look", .version = "v"});
  };
  http.then(answer(200, "<a/>"));
  ASSERT_TRUE(looks());
  int keys = 0;
  for (const char* const code :
       {"ExpiredToken", "RequestExpired", "AuthFailure", "InvalidClientTokenId"}) {
    write("AKID" + std::to_string(++keys));
    http.then(answer(400, refusal_text(code)));
    http.then(answer(200, "<a/>"));
    EXPECT_TRUE(looks()) << code;
    EXPECT_NE(http.header(http.requests.size() - 1, "Authorization")
                  .find("Credential=AKID" + std::to_string(keys) + "/"),
              std::string::npos);
  }
}

TEST_F(AwsClientTest, KeysThatHaveEndedAreSaidIfThereAreNoOthers) {
  http.then(answer(400, refusal_text("ExpiredToken")));
  const auto asked = reboot();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(
      asked.error().message,
      "EC2 RebootInstances: ExpiredToken: no (these credentials have expired, and no newer ones "
      "are available)");
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(AwsClientTest, NoMessageHoldsASecretThatAwsRepeats) {
  http.then(answer(403, refusal_text("SignatureDoesNotMatch", "token t0ken and s3cret s3cret")));
  EXPECT_EQ(reboot().error().message,
            "EC2 RebootInstances: SignatureDoesNotMatch: token *** and *** ***");
}

TEST(AwsClient, WithoutKeysOrRegionNothingIsSent) {
  kube::ScriptedClient http;
  fakes::FakeClock clock;
  AwsClient without_region(http, {.variables = {{"AWS_EC2_METADATA_DISABLED", "true"}}}, clock);
  const auto call = without_region.call({.service = kSns, .what = "Publish"});
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().message,
            "SNS Publish: the AWS region is unknown: set AWS_REGION (AWS_EC2_METADATA_DISABLED is "
            "true)");
  AwsClient without_keys(
      http, {.variables = {{"AWS_EC2_METADATA_DISABLED", "true"}, {"AWS_REGION", "r1"}}}, clock);
  EXPECT_EQ(without_keys.call({.service = kSns, .what = "Publish"}).error().kind,
            ErrorKind::kUnauthenticated);
  EXPECT_TRUE(http.requests.empty());
}

// kInvalid means that AWS never accepts this request: a sink then drops its event, and a step
// continues with a more disruptive one.
TEST(AwsClient, AFaultBeforeTheAnswerIsNeverOneOfTheRequest) {
  const support::TempDir folder;
  const std::string broken = folder.write("config", "no section\n").string();
  const std::string token = folder.write("token", "eyJ").string();
  using Variables = std::map<std::string, std::string>;
  const Variables keys = {
      {"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "s"}, {"AWS_REGION", "eu-west-1"}};
  const auto with = [&](Variables variables) {
    variables.emplace("AWS_EC2_METADATA_DISABLED", "true");
    return variables;
  };
  const auto with_keys = [&](Variables variables) {
    variables.insert(keys.begin(), keys.end());
    return with(std::move(variables));
  };
  for (const Variables& variables :
       {with({}), with({{"AWS_REGION", "Frankfurt"}}), with({{"AWS_CONFIG_FILE", broken}}),
        with_keys({{"AWS_ENDPOINT_URL", "http://elsewhere"}}),
        with({{"AWS_REGION", "eu-west-1"}, {"AWS_ACCESS_KEY_ID", "AKID"}}),
        with({{"AWS_REGION", "eu-west-1"}, {"AWS_CONFIG_FILE", broken}}),
        with({{"AWS_REGION", "eu-west-1"}, {"AWS_PROFILE", "none"}, {"HOME", "/nowhere"}}),
        with({{"AWS_REGION", "eu-west-1"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", token}})}) {
    kube::ScriptedClient http;
    fakes::FakeClock clock;
    AwsClient client(http, {.variables = variables}, clock);
    const auto call = client.call({.service = kSns, .what = "Publish"});
    ASSERT_FALSE(call);
    EXPECT_EQ(call.error().kind, ErrorKind::kUnauthenticated) << call.error().message;
    EXPECT_TRUE(http.requests.empty());
  }
  kube::ScriptedClient http;
  http.then_fail(ErrorKind::kInvalid);
  fakes::FakeClock clock;
  AwsClient with_bad_certificate(http, {.variables = keys}, clock);
  EXPECT_EQ(with_bad_certificate.call({.service = kSns, .what = "Publish"}).error().kind,
            ErrorKind::kUnauthenticated);
}

TEST_F(AwsClientTest, TheErrorOfThePermitIsTheAnswer) {
  const auto asked =
      client.call({.service = kEc2, .what = "RebootInstances", .permit = []() -> Status {
                     return fail(ErrorKind::kInvalid, "not this machine");
                   }});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::aws
