#include "core/http/syntax/headers.h"

#include <gtest/gtest.h>

#include "core/http/client/client.h"

namespace gpuward::http {
namespace {

TEST(Headers, CompareWhateverTheirCase) {
  EXPECT_TRUE(same_name("Content-Length", "content-LENGTH"));
  EXPECT_FALSE(same_name("Content-Length", "Content-Lengths"));
  EXPECT_FALSE(same_name("a[", "A{"));
}

TEST(Headers, FindTheFirstOfAName) {
  const HeaderList headers = {{"A", "1"}, {"a", "2"}, {"B", ""}};
  EXPECT_EQ(*find_header(headers, "a"), "1");
  EXPECT_EQ(count_headers(headers, "A"), 2U);
  EXPECT_EQ(find_header(headers, "C"), nullptr);
  ClientResponse response;
  response.headers = headers;
  EXPECT_EQ(response.header("b"), "");
  EXPECT_EQ(response.header("c"), "");
}

TEST(Headers, FindAWordInAList) {
  EXPECT_TRUE(has_word("TE, Keep-Alive", "keep-alive"));
  EXPECT_TRUE(has_word("keep-alive", "keep-alive"));
  EXPECT_FALSE(has_word("not-keep-alive, x", "keep-alive"));
  EXPECT_FALSE(has_word("", "keep-alive"));
}

TEST(Headers, RefuseTextThatWouldEndTheField) {
  EXPECT_TRUE(is_field_text("a b\tc"));
  EXPECT_FALSE(is_field_text("a\rb"));
  EXPECT_FALSE(is_field_text("a\nb"));
  EXPECT_FALSE(is_field_text(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace gpuward::http
