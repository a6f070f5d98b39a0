#include "core/aws/signer.h"

#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"

namespace gpuward::aws {
namespace {

Json vectors() {
  const auto text = read_file(GPUWARD_SOURCE_DIR "/tests/testdata/aws/sigv4.json");
  return text ? parse_json(*text).value_or(Json()) : Json();
}

std::string authorization_of(const Json& row, const HeaderFields& headers, AwsKeys keys) {
  const std::string method = string_at(row, "method"), path = string_at(row, "path");
  const std::string query = string_at(row, "query"), body = string_at(row, "body");
  const std::string region = string_at(row, "region"), service = string_at(row, "service");
  const auto added =
      sign({.method = method, .path = path, .query = query, .headers = headers, .body = body}, keys,
           {region, service}, parse_rfc3339(string_at(row, "time")).value_or(Clock::Wall()));
  return added.back().first == "Authorization" ? added.back().second : std::string();
}

HeaderFields headers_of(const Json& row) {
  HeaderFields headers;
  for (const Json& field : member_at(row, "headers"))
    headers.emplace_back(field[0].get<std::string>(), field[1].get<std::string>());
  return headers;
}

AwsKeys keys_of_row(const Json& row) {
  return {.access_key_id = string_at(row, "access_key_id"),
          .secret_access_key = string_at(row, "secret_access_key"),
          .session_token = string_at(row, "session_token")};
}

TEST(Signer, GivesThePublishedSignatures) {
  const Json rows = vectors();
  ASSERT_EQ(rows.size(), 32U);
  for (const Json& row : rows) {
    EXPECT_EQ(authorization_of(row, headers_of(row), keys_of_row(row)),
              string_at(row, "authorization"))
        << string_at(row, "name");
  }
}

// The example of S3's "Signature Calculations for the Authorization Header": the path is encoded
// once.
TEST(Signer, GivesTheSignatureThatS3Publishes) {
  const HeaderFields headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                                {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  const auto added =
      sign({.method = "PUT",
            .path = "/test%24file.text",
            .query = {},
            .headers = headers,
            .body = "Welcome to Amazon S3."},
           {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
            .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
           {"us-east-1", "s3"}, parse_rfc3339("2013-05-24T00:00:00Z").value_or(Clock::Wall()));
  EXPECT_TRUE(added.back().second.ends_with(
      "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
      << added.back().second;
}

TEST(Signer, LeavesOutWhatOthersWriteOnTheWay) {
  const Json row = vectors()[0];
  HeaderFields more = headers_of(row);
  for (const char* const name :
       {"User-Agent", "Connection", "Expect", "X-Amzn-Trace-Id", "Proxy-Authorization", "TE"}) {
    more.emplace_back(name, "anything");
  }
  EXPECT_EQ(authorization_of(row, more, keys_of_row(row)), string_at(row, "authorization"));
}

TEST(Signer, SendsTheTokenOfASessionAndSignsIt) {
  const HeaderFields headers{{"Host", "sts.amazonaws.com"}};
  const auto added =
      sign({.method = "POST", .path = "/", .query = "", .headers = headers, .body = ""},
           {.access_key_id = "AKID", .secret_access_key = "s", .session_token = "t0ken"},
           {"us-east-1", "sts"}, Clock::Wall());
  ASSERT_EQ(added.size(), 3U);
  EXPECT_EQ(added[0], std::pair(std::string("X-Amz-Date"), std::string("19700101T000000Z")));
  EXPECT_EQ(added[1], std::pair(std::string("X-Amz-Security-Token"), std::string("t0ken")));
  EXPECT_NE(added[2].second.find("SignedHeaders=host;x-amz-date;x-amz-security-token,"),
            std::string::npos);
}

}  // namespace
}  // namespace gpuward::aws
