#include "core/http/server/framing.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

Framing framed(HeaderList headers, std::string_view method = "POST",
               std::string_view version = "1.1") {
  headers.emplace_back("Host", "h");
  return decide_framing(method, version, headers, 1000);
}

TEST(Framing, TakesOneLength) {
  const Framing framing = framed({{"Content-Length", "12"}});
  EXPECT_EQ(framing.status, 0);
  EXPECT_EQ(framing.body, BodyKind::kLength);
  EXPECT_EQ(framing.length, 12U);
}

TEST(Framing, TakesChunkedWhateverItsCase) {
  EXPECT_EQ(framed({{"transfer-encoding", "Chunked"}}).body, BodyKind::kChunked);
}

TEST(Framing, RefusesLengthWithChunked) {
  EXPECT_EQ(framed({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}).status, 400);
}

TEST(Framing, RefusesTwoLengthsEvenIfEqual) {
  EXPECT_EQ(framed({{"Content-Length", "5"}, {"content-length", "5"}}).status, 400);
}

TEST(Framing, RefusesLengthsThatAreNoNumber) {
  for (const char* value :
       {"", "abc", "5x", "+5", "-5", "0x5", "5, 5", "5 ", "99999999999999999999"}) {
    EXPECT_EQ(framed({{"Content-Length", value}}).status, 400) << value;
  }
}

TEST(Framing, RefusesOtherEncodings) {
  for (const char* value : {"gzip, chunked", "identity", "chunked, chunked", "xchunked", ""}) {
    EXPECT_EQ(framed({{"Transfer-Encoding", value}}).status, 400) << value;
  }
  EXPECT_EQ(framed({{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}).status,
            400);
}

TEST(Framing, AsksForALengthIfABodyIsUsual) {
  EXPECT_EQ(framed({}, "POST").status, 411);
  EXPECT_EQ(framed({}, "PATCH").status, 411);
  EXPECT_EQ(framed({}, "GET").status, 0);
  EXPECT_EQ(framed({}, "DELETE").status, 0);
}

TEST(Framing, RefusesBodiesOverTheCapByTheirLength) {
  EXPECT_EQ(framed({{"Content-Length", "1000"}}).status, 0);
  EXPECT_EQ(framed({{"Content-Length", "1001"}}).status, 413);
}

TEST(Framing, WantsExactlyOneHost) {
  EXPECT_EQ(decide_framing("GET", "1.1", {}, 1000).status, 400);
  EXPECT_EQ(decide_framing("GET", "1.0", {}, 1000).status, 0);
  EXPECT_EQ(framed({{"Host", "other"}}, "GET").status, 400);
}

TEST(Framing, KnowsOneExpectation) {
  EXPECT_TRUE(framed({{"Content-Length", "5"}, {"Expect", "100-continue"}}).expects_continue);
  EXPECT_EQ(framed({{"Content-Length", "5"}, {"Expect", "miracles"}}).status, 417);
}

TEST(Framing, RefusesChunkedInHttp10) {
  EXPECT_EQ(framed({{"Transfer-Encoding", "chunked"}}, "POST", "1.0").status, 400);
}

}  // namespace
}  // namespace gpuward::http
