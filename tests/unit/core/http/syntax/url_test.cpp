#include "core/http/syntax/url.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

TEST(Url, EncodesWhatCouldLeaveItsSegment) {
  EXPECT_EQ(encode_path_segment("node-1.a_b~c"), "node-1.a_b~c");
  EXPECT_EQ(encode_path_segment("a/b?c#d%e f"), "a%2Fb%3Fc%23d%25e%20f");
  EXPECT_EQ(encode_path_segment("\xC3\xA4"), "%C3%A4");
}

TEST(Url, EncodesSegmentsThatWouldClimb) {
  EXPECT_EQ(encode_path_segment(".."), "%2E%2E");
  EXPECT_EQ(encode_path_segment("."), "%2E");
  EXPECT_EQ(encode_path_segment("../x"), "..%2Fx");
}

TEST(Url, EncodesQueryValues) {
  EXPECT_EQ(encode_query_value("a=b&c+d"), "a%3Db%26c%2Bd");
  EXPECT_EQ(build_query({{"labelSelector", "a in (b,c)"}, {"limit", "500"}}),
            "labelSelector=a%20in%20%28b%2Cc%29&limit=500");
}

TEST(Url, DecodesWhatItEncoded) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  EXPECT_EQ(decode_percent(encode_path_segment(every_byte)).value(), every_byte);
}

TEST(Url, RefusesBrokenEscapes) {
  for (const char* text : {"%", "%1", "%zz", "a%2", "%00"}) {
    EXPECT_FALSE(decode_percent(text)) << text;
  }
}

TEST(Url, ResolvesDotSegments) {
  EXPECT_EQ(normalise_path("/").value(), "/");
  EXPECT_EQ(normalise_path("/a/./b/../c").value(), "/a/c");
  EXPECT_EQ(normalise_path("/../../etc/passwd").value(), "/etc/passwd");
  EXPECT_EQ(normalise_path("/a/%2e%2e/b").value(), "/b");
  EXPECT_EQ(normalise_path("/a/b/..").value(), "/a/");
  EXPECT_EQ(normalise_path("/metrics/").value(), "/metrics/");
}

TEST(Url, RefusesPathsThatAreNone) {
  EXPECT_FALSE(normalise_path(""));
  EXPECT_FALSE(normalise_path("metrics"));
  EXPECT_FALSE(normalise_path("/a%0ab"));
  EXPECT_FALSE(normalise_path("/a%00b"));
}

TEST(Url, ParsesQueries) {
  const Query query = parse_query("watch=1&fieldSelector=spec.nodeName%3Dn1&empty=&bare&&x=a+b%zz");
  EXPECT_EQ(query_value(query, "watch"), "1");
  EXPECT_EQ(query_value(query, "fieldSelector"), "spec.nodeName=n1");
  EXPECT_EQ(query_value(query, "empty"), "");
  EXPECT_EQ(query_value(query, "x"), "a b%zz");
  EXPECT_EQ(query.size(), 5U);
  EXPECT_TRUE(parse_query("").empty());
}

}  // namespace
}  // namespace gpuward::http
