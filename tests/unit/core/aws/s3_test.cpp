#include "core/aws/s3.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_clock.h"
#include "tests/support/deadline.h"
#include "tests/support/on_moto.h"
#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::aws {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

S3Place place_of(std::string_view url) {
  const auto place = parse_s3_url(url);
  EXPECT_TRUE(place) << url;
  return place.value_or(S3Place{});
}

TEST(S3Url, NamesBucketPrefixAndRegion) {
  const S3Place place = place_of("s3://my.evidence/prod/gpu?region=eu-west-1");
  EXPECT_EQ(place.bucket, "my.evidence");
  EXPECT_EQ(place.key, "prod/gpu");
  EXPECT_EQ(place.region, "eu-west-1");
  EXPECT_EQ(s3_url_of(place), "s3://my.evidence/prod/gpu");
  EXPECT_EQ(place_of("s3://evidence").key, "");
  EXPECT_EQ(place_of("s3://evidence/a/").key, "a/");
}

TEST(S3Url, IsRefusedIfItCouldMeanSomethingElse) {
  for (const char* url :
       {"s3://", "s3:///key", "s3://UPPER/x", "s3://ab", "s3://bucket/a//b", "s3://bucket/../b",
        "s3://bucket//", "s3://bucket/a b", "s3://bucket/a?versionId=3",
        "s3://bucket?region=", "s3://bucket/$(x)", "s3://user:secret@bucket/", "https://bucket/"}) {
    EXPECT_FALSE(parse_s3_url(url)) << url;
  }
}

class S3Test : public ::testing::Test {
 protected:
  Status put(const std::string& url, std::map<std::string, std::string> more = {}) {
    more.insert({{"AWS_ACCESS_KEY_ID", "AKID"},
                 {"AWS_SECRET_ACCESS_KEY", "s3cret"},
                 {"AWS_REGION", "eu-west-1"}});
    AwsClient aws(http, {.variables = std::move(more)}, clock);
    S3Place place = place_of(url);
    place.key += "/it's.tar.gz";
    return put_object(aws, clock, place, "evidence", seconds(60));
  }
  kube::ScriptedClient http;
  fakes::FakeClock clock;
};

TEST_F(S3Test, TheBucketIsInTheHostsName) {
  http.then(kube::answer(200, ""));
  ASSERT_TRUE(put("s3://evidence/prod"));
  EXPECT_EQ(http.requests.at(0).method, "PUT");
  EXPECT_EQ(http.requests[0].url, "https://evidence.s3.eu-west-1.amazonaws.com/prod/it%27s.tar.gz");
  EXPECT_EQ(http.header(0, "Host"), "evidence.s3.eu-west-1.amazonaws.com");
  EXPECT_THAT(http.header(0, "Authorization"),
              HasSubstr("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,"));
}

TEST_F(S3Test, TheBucketIsInThePathIfNoCertificateHoldsOrTheEndpointIsOnesOwn) {
  http.then(kube::answer(200, ""));
  http.then(kube::answer(200, ""));
  ASSERT_TRUE(put("s3://my.evidence/prod?region=us-west-2"));
  EXPECT_EQ(http.requests.at(0).url,
            "https://s3.us-west-2.amazonaws.com/my.evidence/prod/it%27s.tar.gz");
  ASSERT_TRUE(put("s3://evidence/prod", {{"AWS_ENDPOINT_URL_S3", "https://minio:9000/"}}));
  EXPECT_EQ(http.requests.at(1).url, "https://minio:9000/evidence/prod/it%27s.tar.gz");
}

TEST_F(S3Test, AnotherRegionIsNotFollowedButNamed) {
  http.then(kube::answer(301,
                         "<Error><Code>PermanentRedirect</Code><Message>use the specified "
                         "endpoint</Message></Error>"));
  const auto put_there = put("s3://evidence/prod");
  ASSERT_FALSE(put_there);
  EXPECT_THAT(put_there.error().message, HasSubstr("PermanentRedirect"));
  EXPECT_THAT(put_there.error().message, Not(HasSubstr("s3cret")));
  EXPECT_EQ(http.requests.size(), 1U);
}

// moto checks the signature and the right.
class S3OnMoto : public support::OnMoto<> {
 protected:
  static Status put(std::map<std::string, std::string> variables, const S3Place& place,
                    const std::string& content) {
    http::CurlClient http;
    SystemClock clock;
    AwsClient aws(http, {.variables = std::move(variables)}, clock);
    return put_object(aws, clock, place, content, support::kGenerousRequest);
  }
};

TEST_F(S3OnMoto, PutsWithTheOneRightThatItNeeds) {
  ASSERT_TRUE(moto->admin().call(
      {.service = kS3, .what = "CreateBucket", .method = "PUT", .path = "", .bucket = "evidence"}));
  const auto node = moto->add_user(
      "node",
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"arn:aws:s3:::evidence/*"}]})");
  const auto other = moto->add_user(
      "other",
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]})");
  ASSERT_TRUE(node && other);
  const S3Place place{.bucket = "evidence", .key = "prod/it's (1)!.tar.gz", .region = ""};

  const auto done = put(*node, place, std::string(2U << 20U, '\x1f'));
  ASSERT_TRUE(done) << done.error().message;
  const auto refused = put(*other, place, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kForbidden) << refused.error().message;

  const auto got = moto->admin().call({.service = kS3,
                                       .what = "GetObject",
                                       .method = "GET",
                                       .path = "/prod/it%27s%20%281%29%21.tar.gz",
                                       .bucket = "evidence"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body.size(), 2U << 20U);
}

TEST_F(S3OnMoto, AHangingServerCostsTheTimeOutAndNoMore) {
  const auto keys = moto->add_user(
      "hung",
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"*"}]})");
  ASSERT_TRUE(keys);
  moto->freeze();
  http::CurlClient http;
  SystemClock clock;
  AwsClient aws(http, {.variables = *keys}, clock);
  const auto begun = clock.steady();
  const auto done = put_object(aws, clock, {.bucket = "evidence", .key = "x", .region = ""}, "x",
                               std::chrono::milliseconds(300));
  const auto took = clock.steady() - begun;
  moto->thaw();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  EXPECT_LT(took, support::kGenerous);
}

}  // namespace
}  // namespace gpuward::aws
