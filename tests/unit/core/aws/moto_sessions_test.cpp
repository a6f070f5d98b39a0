// Keys of a session, from the exchange of a web identity to requests that are signed with them, on
// a server that checks both.
#include <gtest/gtest.h>

#include "core/aws/client.h"
#include "tests/support/on_moto.h"
#include "tests/support/temp_dir.h"

namespace gpuward::aws {
namespace {

class MotoSessionsTest : public support::OnMoto<> {
 protected:
  SystemClock clock;
  http::CurlClient http;
};

TEST_F(MotoSessionsTest, AWebIdentityOpensOneWithTheRightsOfItsRole) {
  ASSERT_TRUE(moto->iam("CreateRole", {{"RoleName", "remediator"},
                                       {"AssumeRolePolicyDocument",
                                        R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow",)"
                                        R"("Principal":{"Federated":"*"},)"
                                        R"("Action":"sts:AssumeRoleWithWebIdentity"}]})"}}));
  ASSERT_TRUE(
      moto->iam("PutRolePolicy",
                {{"RoleName", "remediator"},
                 {"PolicyName", "rights"},
                 {"PolicyDocument", R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow",)"
                                    R"("Action":"ec2:Describe*","Resource":"*"}]})"}}));
  const support::TempDir folder;
  const auto token = folder.write("token", "eyJhbGciOiJub25lIn0.e30.");
  AwsClient client(http,
                   {.variables = {{"AWS_ENDPOINT_URL", moto->url()},
                                  {"AWS_REGION", "us-east-1"},
                                  {"AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/remediator"},
                                  {"AWS_WEB_IDENTITY_TOKEN_FILE", token.string()}}},
                   clock);
  moto->let_one_pass();
  const auto seen =
      client.query({.service = kEc2, .action = "DescribeInstances", .version = "2016-11-15"});
  EXPECT_TRUE(seen) << seen.error().message;
  const auto refused = client.query({.service = kEc2,
                                     .action = "RebootInstances",
                                     .version = "2016-11-15",
                                     .parameters = {{"InstanceId.1", "i-0123456789abcdef0"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kForbidden);
  EXPECT_NE(refused.error().message.find("is not authorized to perform: ec2:RebootInstances"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(MotoSessionsTest, ASignatureCoversWhateverAFormHolds) {
  EXPECT_TRUE(
      moto->iam("CreateRole", {{"RoleName", "described"},
                               {"Description", "a b/~*'()+%20 \"<>&=\n"},
                               {"AssumeRolePolicyDocument", "{\"Version\": \"2012-10-17\"}"}}));
}

}  // namespace
}  // namespace gpuward::aws
