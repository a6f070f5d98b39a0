#include "core/aws/key_source.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/aws/region.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::aws {
namespace {

using kube::answer;

constexpr const char* kSessionKeys =
    R"({"Code":"Success","AccessKeyId":"ASIA1","SecretAccessKey":"s3cret","Token":"t0ken",)"
    R"("Expiration":"2026-01-01T06:00:00Z"})";

class KeySourceTest : public ::testing::Test {
 protected:
  Result<AwsKeys> find(std::map<std::string, std::string> variables) {
    environment.variables = std::move(variables);
    return find_keys({http, environment, clock});
  }
  [[nodiscard]] std::string message(std::map<std::string, std::string> variables) {
    const auto found = find(std::move(variables));
    return found ? "found" : found.error().message;
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(folder / ".aws");
    folder.write(name, text);
  }

  support::TempDir folder;
  kube::ScriptedClient http;
  AwsEnvironment environment;
  fakes::FakeClock clock;
};

TEST_F(KeySourceTest, TheEnvironmentComesFirst) {
  const auto keys = find({{"AWS_ACCESS_KEY_ID", "AKID"},
                          {"AWS_SECRET_ACCESS_KEY", "s"},
                          {"AWS_SESSION_TOKEN", "t"},
                          {"AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere"}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->access_key_id, "AKID");
  EXPECT_EQ(keys->secret_access_key, "s");
  EXPECT_EQ(keys->session_token, "t");
  EXPECT_FALSE(keys->expires);
}

TEST_F(KeySourceTest, HalfAPairIsAFaultAndNotAnotherSource) {
  EXPECT_EQ(message({{"AWS_ACCESS_KEY_ID", "AKID"}}),
            "AWS credentials of environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be "
            "set together");
}

TEST_F(KeySourceTest, AWebIdentityIsExchangedWithoutASignature) {
  const auto token = folder.write("token", "eyJ.a+b\n");
  http.then(answer(
      200,
      "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
      "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA2</AccessKeyId>"
      "<SecretAccessKey>s2</SecretAccessKey><SessionToken>t2</SessionToken>"
      "<Expiration>2026-01-01T01:00:00Z</Expiration></Credentials>"
      "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"));
  const auto keys = find({{"AWS_WEB_IDENTITY_TOKEN_FILE", token.string()},
                          {"AWS_ROLE_ARN", "arn:aws:iam::1:role/x"},
                          {"AWS_REGION", "eu-west-1"}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->access_key_id, "ASIA2");
  EXPECT_EQ(keys->session_token, "t2");
  EXPECT_EQ(keys->expires, parse_rfc3339("2026-01-01T01:00:00Z"));
  ASSERT_EQ(http.requests.size(), 1U);
  EXPECT_EQ(http.requests[0].url, "https://sts.eu-west-1.amazonaws.com/");
  EXPECT_EQ(http.requests[0].body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%"
            "3Arole%2Fx&RoleSessionName=gpuward&WebIdentityToken=eyJ.a%2Bb");
  EXPECT_EQ(http.header(0, "Authorization"), "");
}

TEST_F(KeySourceTest, ARefusedWebIdentityIsTheAnswer) {
  const auto token = folder.write("token", "eyJ");
  http.then(answer(403,
                   "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized"
                   "</Message></Error><RequestId>r</RequestId></ErrorResponse>"));
  const auto keys = find({{"AWS_WEB_IDENTITY_TOKEN_FILE", token.string()},
                          {"AWS_ROLE_ARN", "arn:role"},
                          {"AWS_REGION", "eu-west-1"}});
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().message,
            "AWS credentials of web identity: STS AssumeRoleWithWebIdentity for arn:role: "
            "AccessDenied: Not authorized");
  EXPECT_EQ(keys.error().kind, ErrorKind::kUnauthenticated) << "no right of a role is missing";
}

TEST_F(KeySourceTest, AProfileGivesItsKeys) {
  write(".aws/credentials",
        "[gpu]\naws_access_key_id=AKID\naws_secret_access_key=s\naws_session_token=t\n");
  const auto keys = find({{"HOME", folder.path().string()}, {"AWS_PROFILE", "gpu"}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->access_key_id, "AKID");
  EXPECT_EQ(keys->session_token, "t");
}

TEST_F(KeySourceTest, AProfileThatNeedsMoreSaysSo) {
  write(".aws/config", "[default]\ncredential_process=/bin/x\n");
  EXPECT_EQ(
      message({{"HOME", folder.path().string()}}),
      "AWS credentials of profile: the profile uses credential_process, which gpuward does not "
      "support: add access keys to the profile, or set AWS_ROLE_ARN and "
      "AWS_WEB_IDENTITY_TOKEN_FILE");
}

TEST_F(KeySourceTest, AContainersEndpointGetsTheTokenOfItsFile) {
  const auto token = folder.write("token", "pod-token\n");
  http.then(answer(200, kSessionKeys));
  const auto keys =
      find({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
            {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.string()}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->access_key_id, "ASIA1");
  EXPECT_EQ(keys->expires, parse_rfc3339("2026-01-01T06:00:00Z"));
  EXPECT_EQ(http.requests.at(0).url, "http://169.254.170.23/v1/credentials");
  EXPECT_EQ(http.header(0, "Authorization"), "pod-token");
}

TEST_F(KeySourceTest, AContainersTokenGoesToNobodyElse) {
  EXPECT_EQ(message({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23.evil/x"}}),
            "AWS credentials of container: AWS_CONTAINER_CREDENTIALS_FULL_URI uses plain HTTP to "
            "169.254.170.23.evil, which is not an EKS or ECS endpoint: use https://");
  const auto token = folder.write("token", "a\r\nX-Evil: 1");
  EXPECT_EQ(
      message({{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x"},
               {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.string()}}),
      "AWS credentials of container: the container authorization token contains a line break");
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(KeySourceTest, TheMachinesRoleIsAskedForInASession) {
  http.then(answer(200, "session-1"));
  http.then(answer(200, "gpu-role\n"));
  http.then(answer(200, "session-2"));
  http.then(answer(200, kSessionKeys));
  const auto keys = find({});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->session_token, "t0ken");
  EXPECT_EQ(http.requests[0].method, "PUT");
  EXPECT_EQ(http.requests[0].url, "http://169.254.169.254/latest/api/token");
  EXPECT_EQ(http.header(1, "X-aws-ec2-metadata-token"), "session-1");
  EXPECT_EQ(http.requests[3].url,
            "http://169.254.169.254/latest/meta-data/iam/security-credentials/gpu-role");
}

TEST_F(KeySourceTest, AMetadataServiceThatIsBrokenIsTheAnswer) {
  http.then(answer(503, ""));
  const auto keys = find({});
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(keys.error().message,
            "AWS credentials of instance role: the EC2 metadata service returned HTTP 503");
}

TEST_F(KeySourceTest, IfNothingIsConfiguredAllAreNamed) {
  http.then_fail(ErrorKind::kTimeout);
  EXPECT_EQ(message({}),
            "no AWS credentials: environment: AWS_ACCESS_KEY_ID is not set; web identity: "
            "AWS_WEB_IDENTITY_TOKEN_FILE is not set; profile: aws_access_key_id is not set; "
            "container: AWS_CONTAINER_CREDENTIALS_FULL_URI is not set; instance role: the EC2 "
            "metadata service does not answer");
  EXPECT_EQ(find({{"AWS_EC2_METADATA_DISABLED", "true"}}).error().kind,
            ErrorKind::kUnauthenticated);
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(KeySourceTest, AnAnswerWithoutKeysIsNotRepeatedInTheMessage) {
  const auto keys = parse_keys(R"({"AccessKeyId":"A","SecretAccessKey":"s3cret"})", "it");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().message, "it returned no credentials");
  EXPECT_EQ(parse_keys(R"({"Code":"AssumeRoleUnauthorizedAccess"})", "it").error().message,
            "it returned no credentials: AssumeRoleUnauthorizedAccess");
}

TEST_F(KeySourceTest, TheRegionIsOfTheEnvironmentTheProfileOrTheMachine) {
  const auto region = [this](std::map<std::string, std::string> variables) {
    environment.variables = std::move(variables);
    const auto found = find_region({http, environment, clock});
    return found ? *found : found.error().message;
  };
  write(".aws/config", "[default]\nregion=r3\n");
  const std::string home = folder.path().string();
  EXPECT_EQ(region({{"AWS_REGION", "r1"}, {"AWS_DEFAULT_REGION", "r2"}, {"HOME", home}}), "r1");
  EXPECT_EQ(region({{"AWS_DEFAULT_REGION", "r2"}, {"HOME", home}}), "r2");
  EXPECT_EQ(region({{"HOME", home}}), "r3");
  http.then(answer(200, "session"));
  http.then(answer(200, "eu-north-1"));
  EXPECT_EQ(region({}), "eu-north-1");
  EXPECT_EQ(region({{"AWS_REGION", "EU!"}}), "AWS_REGION gives an invalid AWS region: EU!");
  EXPECT_EQ(region({{"AWS_EC2_METADATA_DISABLED", "true"}}),
            "the AWS region is unknown: set AWS_REGION (AWS_EC2_METADATA_DISABLED is true)");
}

}  // namespace
}  // namespace gpuward::aws
