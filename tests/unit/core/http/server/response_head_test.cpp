#include "core/http/server/response_head.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

std::string head_of(const Response& response, std::string_view version = "1.1") {
  return render_head(response, Persistence::kKeepAlive, version);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ResponseHead, SaysStatusTypeAndLength) {
  const std::string head = head_of(Response::json(404, "{}"));
  EXPECT_TRUE(head.starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_TRUE(contains(head, "Content-Type: application/json\r\n"));
  EXPECT_TRUE(contains(head, "Content-Length: 2\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(ResponseHead, LeavesOutFieldsWithALineBreak) {
  Response response = Response::text(200, "x");
  response.headers = {{"X-Evil", "a\r\nSet-Cookie: b"}, {"Bad\nName", "c"}, {"X-Good", "d"}};
  response.content_type = "text/plain\r\nX-Also: evil";
  const std::string head = head_of(response);
  EXPECT_FALSE(contains(head, "Set-Cookie"));
  EXPECT_FALSE(contains(head, "Bad"));
  EXPECT_FALSE(contains(head, "X-Also"));
  EXPECT_TRUE(contains(head, "X-Good: d\r\n"));
}

TEST(ResponseHead, GivesNoLengthToStatusesWithoutBody) {
  EXPECT_FALSE(contains(head_of(Response::text(204, "")), "\r\nContent-"));
  EXPECT_FALSE(contains(head_of(Response::text(304, "")), "\r\nContent-"));
}

TEST(ResponseHead, StreamsAreChunkedButNotToHttp10) {
  Response response;
  response.stream = [](BodyWriter&) {};
  EXPECT_TRUE(contains(head_of(response), "Transfer-Encoding: chunked\r\n"));
  EXPECT_FALSE(contains(head_of(response), "Content-Length"));
  EXPECT_FALSE(contains(head_of(response, "1.0"), "Transfer-Encoding"));
}

TEST(ResponseHead, SaysWhetherTheConnectionLasts) {
  EXPECT_TRUE(contains(head_of(Response::text(200, "")), "Connection: keep-alive\r\n"));
  EXPECT_TRUE(contains(render_head(Response::text(200, ""), Persistence::kClose, "1.1"),
                       "Connection: close\r\n"));
}

}  // namespace
}  // namespace gpuward::http
