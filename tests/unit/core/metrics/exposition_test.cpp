#include "core/metrics/exposition.h"

#include <gtest/gtest.h>

namespace gpuward::metrics {
namespace {

TEST(Exposition, GivesThePackedBytesOnlyToThoseWhoTakeThem) {
  const Exposition exposition = pack("plain text");

  EXPECT_FALSE(exposition.choose("").is_packed);
  EXPECT_EQ(*exposition.choose("").body, "plain text");
  EXPECT_TRUE(exposition.choose("gzip").is_packed);
  EXPECT_EQ(exposition.choose("gzip").body, exposition.packed);
}

TEST(Exposition, GivesPlainTextIfPackingFailed) {
  const Exposition exposition{std::make_shared<const std::string>("plain"), nullptr};

  EXPECT_EQ(*exposition.choose("gzip").body, "plain");
}

TEST(CurrentExposition, KeepsTheBytesOfAScrapeAliveWhileItIsReplaced) {
  CurrentExposition current;
  current.set(pack("old"));
  const Exposition taken = current.get();

  current.set(pack("new"));

  EXPECT_EQ(*taken.text, "old");
  EXPECT_EQ(*current.get().text, "new");
}

}  // namespace
}  // namespace gpuward::metrics
