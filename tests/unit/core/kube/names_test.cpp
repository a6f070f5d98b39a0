#include "core/kube/names.h"

#include <gtest/gtest.h>

namespace gpuward::kube {
namespace {

TEST(NodeNames, TakesSubdomains) {
  for (const char* name : {"n1", "ip-10-0-0-1.eu-central-1.compute.internal", "0", "a.b.c"}) {
    EXPECT_TRUE(validate_node_name(name)) << name;
  }
}

TEST(NodeNames, RefusesWhateverCouldReachAnotherPath) {
  for (const char* name : {"", ".", "..", "../../pods", "a%2fb", "a/b", "a?b", "a#b", "A", "-a",
                           "a-", "a..b", "a.", ".a", "a b", "n\xC3\xA4", "a\n", "n1;"}) {
    const auto status = validate_node_name(name);
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().kind, ErrorKind::kInvalid) << name;
  }
}

TEST(NodeNames, RefusesWhatIsTooLong) {
  const std::string label(63, 'a');
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_TRUE(validate_node_name(longest));
  EXPECT_FALSE(validate_node_name(longest + "b"));
  EXPECT_FALSE(validate_node_name(label + "a"));
  EXPECT_FALSE(validate_node_name(std::string(300, 'a')));
}

TEST(NodeNames, AnswersWithOnlyTheBeginningOfAHugeName) {
  const auto status = validate_node_name(std::string(1'000'000, '/'));
  ASSERT_FALSE(status);
  EXPECT_LT(status.error().message.size(), 200U);
}

TEST(Segments, RefuseEmptyNamesAndDots) {
  for (const char* name : {"", ".", "..", "a/b", "a%2e"})
    EXPECT_FALSE(validate_segment(name)) << name;
  EXPECT_TRUE(validate_segment("system:node:n1"));
}

TEST(PercentEncoding, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a=b,c in (d)"), "a%3Db%2Cc%20in%20%28d%29");
  EXPECT_EQ(percent_encode("\xFF"), "%FF");
}

}  // namespace
}  // namespace gpuward::kube
