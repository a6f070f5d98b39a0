#include "core/model/result.h"

#include <gtest/gtest.h>

namespace gpuward {
namespace {

TEST(Result, CarriesKindAndMessageOfAFailure) {
  const Result<int> result = fail(ErrorKind::kNotFound, "no such node");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(result.error().message, "no such node");
  EXPECT_EQ(result.error().retry_after.count(), 0);
}

TEST(Result, KeepsKindAndRetryTimeWhenContextIsAdded) {
  const Result<int> result = with_context(
      "patch node a", Error{ErrorKind::kOverloaded, "HTTP 429", std::chrono::seconds(3)});
  EXPECT_EQ(result.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(result.error().message, "patch node a: HTTP 429");
  EXPECT_EQ(result.error().retry_after, std::chrono::seconds(3));
}

}  // namespace
}  // namespace gpuward
