#include "core/html/page.h"

#include <gmock/gmock.h>

namespace gpuward::html {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

const Clock::Wall kNow = *parse_rfc3339("2026-11-21T08:00:00Z");

Page some_page(std::string_view text = "hello") {
  return {.title = "Fleet",
          .root = "../",
          .program = "gpuward 1",
          .nav = {{"", "Fleet"}, {"policy", "Policy"}},
          .body = element("h1", {text})};
}

std::string header(const http::Response& response, std::string_view name) {
  return std::string(http::header_value(response.headers, name));
}

http::Request conditional_request(std::string tag) {
  http::Request request;
  request.headers = {{"If-None-Match", std::move(tag)}};
  return request;
}

TEST(Page, IsWholeWithoutScripts) {
  const auto response = answer({}, some_page(), kNow);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(*response.body,
              AllOf(HasSubstr("<main id=\"main\"><h1>hello</h1></main>"),
                    HasSubstr("<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"),
                    HasSubstr("as of <time datetime=\"2026-11-21T08:00:00Z\">"),
                    HasSubstr("<a class=\"skip\" href=\"#main\">")));
}

// A proxy may serve it below any path.
TEST(Page, LinksRelativeToItself) {
  EXPECT_THAT(*answer({}, some_page(), kNow).body,
              AllOf(HasSubstr("href=\"../page.css\""), HasSubstr("src=\"../page.js\""),
                    HasSubstr("href=\"../policy\""), Not(HasSubstr("=\"/"))));
}

TEST(Page, LetsNothingInFromElsewhere) {
  const auto response = answer({}, some_page(), kNow);
  EXPECT_THAT(header(response, "Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'self'"),
                    HasSubstr("frame-ancestors 'none'"), HasSubstr("form-action 'none'"),
                    Not(HasSubstr("unsafe"))));
  EXPECT_EQ(header(response, "Referrer-Policy"), "no-referrer");
  EXPECT_THAT(*response.body, Not(HasSubstr("http://")));
}

TEST(Page, IsNotSentAgainToWhoeverHasIt) {
  const auto first = answer({}, some_page(), kNow);
  const auto again = conditional_request(header(first, "ETag"));
  EXPECT_EQ(answer(again, some_page(), kNow + 1min).status, 304);
  EXPECT_EQ(answer(again, some_page("changed"), kNow).status, 200);
}

TEST(Page, IsPackedForWhoeverTakesIt) {
  http::Request request;
  request.headers = {{"Accept-Encoding", "gzip"}};
  const auto response = answer(request, some_page(std::string(5'000, 'a')), kNow);
  EXPECT_EQ(header(response, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(response, "Vary"), "Accept-Encoding");
  EXPECT_LT(response.body->size(), 1'000U);
  EXPECT_EQ(header(answer({}, some_page(), kNow), "Content-Encoding"), "");
}

TEST(Page, HasItsStyleAndScriptBesideIt) {
  std::vector<std::string> paths;
  for (const http::Route& route : asset_routes()) {
    const auto response = route.handler({});
    EXPECT_EQ(response.status, 200);
    EXPECT_FALSE(response.body->empty());
    const auto again = conditional_request(header(response, "ETag"));
    EXPECT_EQ(route.handler(again).status, 304);
    paths.push_back(route.path);
  }
  EXPECT_THAT(paths, ::testing::ElementsAre("/page.css", "/page.js"));
}

TEST(Age, IsInTheLargestUnitThatFits) {
  EXPECT_EQ(age_text(kNow, kNow + 59s), "under 1 min");
  EXPECT_EQ(age_text(kNow, kNow + 61s), "1 min");
  EXPECT_EQ(age_text(kNow, kNow + 61min), "1 h");
  EXPECT_EQ(age_text(kNow, kNow + 49h), "2 d");
  EXPECT_EQ(age_text(kNow, kNow - 5min), "under 1 min");
}

}  // namespace
}  // namespace gpuward::html
