#include "remediator/cluster/exclusions.h"

#include <gmock/gmock.h>

#include "core/runtime/clock.h"
#include "remediator/cluster/exclusions_json.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Clock::Wall kExcludedAt = Clock::Wall(std::chrono::hours(500'004));

kube::Node excluded_node(const std::string& provider_id) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.provider_id = provider_id;
  return node;
}

Exclusion excluded_for(minutes time) {
  return {.since = kExcludedAt, .until = kExcludedAt + time, .reason = "a test", .by = "me"};
}

TEST(Exclusions, NameANodeOrItsMachineUntilTheyAreOver) {
  const ExclusionList list = {{"gpu-01", excluded_for(minutes(10))},
                              {"i-0123", excluded_for(minutes(20))}};
  const kube::Node node = excluded_node("aws:///eu-1a/i-0123");

  EXPECT_EQ(exclusion_for(list, node, kExcludedAt)->until, kExcludedAt + minutes(20));
  EXPECT_FALSE(exclusion_for(list, excluded_node(""), kExcludedAt + minutes(10)));
  EXPECT_FALSE(exclusion_for(list, node, kExcludedAt + minutes(20)));
  EXPECT_EQ(exclusion_for(list, excluded_node("aws:///eu-1a/i-9"), kExcludedAt)->why,
            "gpu-01 is excluded until 2027-01-15T12:10:00Z by me: a test");
  EXPECT_THAT(without_expired(list, kExcludedAt + minutes(10)), SizeIs(1));
}

TEST(Exclusions, SurviveTheConfigMap) {
  const ExclusionList list = {{"gpu-01", excluded_for(minutes(10))}};

  EXPECT_EQ(decode_exclusions(encode_exclusions(list)), list);
}

TEST(Exclusions, WhatCannotBeReadExcludesWithoutAnEnd) {
  for (const char* text : {"", "please leave alone", "{}", R"({"until": "tomorrow"})"}) {
    const auto list = decode_exclusions({{"gpu-01", text}});
    EXPECT_TRUE(exclusion_for(list, excluded_node(""), kExcludedAt + std::chrono::years(10)))
        << text;
    const auto again = decode_exclusions(encode_exclusions(list));
    EXPECT_TRUE(exclusion_for(again, excluded_node(""), kExcludedAt)) << text;
  }
}

TEST(Exclusions, TakesTheFileOfTheMonitorThatIsReplaced) {
  const auto list = parse_exclusion_file(
      R"({"i-0123": {"node_name": "gpu-01", "error_type": "XID_CRITICAL_79",
                     "start_time": 1800014400.5, "timeout": 900,
                     "readable_time": "2027-01-15 12:00:00",
                     "expires_at": "2027-01-15 12:15:00"},
          "i-0456": {"start_time": 1800014400}})",
      "me");

  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(to_rfc3339_ms(list->at("i-0123").until), "2027-01-15T12:15:00.500Z");
  EXPECT_EQ(list->at("i-0123").reason, "XID_CRITICAL_79 on gpu-01, imported");
  EXPECT_EQ(list->at("i-0456").until, kExcludedAt + minutes(30));
  EXPECT_THAT(*parse_exclusion_file("{}", "me"), IsEmpty());
}

TEST(Exclusions, AFileIsRefusedByEachEntryThatIsWrong) {
  const auto list = parse_exclusion_file(
      R"({"i-1": {"start_time": 1800014400}, "i-2": {"timeout": 900}, "i 3": {"start_time": 1},
          "i-4": {"start_time": 1, "timeout": -5}, "i-5": [], "i-6": {"start_time": "today"}})",
      "me");

  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(list.error().message,
              AllOf(Not(HasSubstr("i-1:")), HasSubstr("i-2: start_time"), HasSubstr("i 3: not an"),
                    HasSubstr("i-4: timeout"), HasSubstr("i-5: expected an object"),
                    HasSubstr("i-6: start_time")));
  EXPECT_FALSE(parse_exclusion_file("[]", "me"));
  EXPECT_FALSE(parse_exclusion_file("", "me"));
}

TEST(Exclusions, AreOfNamesThatAConfigMapTakes) {
  for (const char* good : {"gpu-01", "i-0123", "ip-10-0-0-1.ec2.internal", "A_b"}) {
    EXPECT_TRUE(is_exclusion_subject(good)) << good;
  }
  for (const char* bad : {"", ".", "..a", "a/b", "a b", "aws:///x"}) {
    EXPECT_FALSE(is_exclusion_subject(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpuward::remediator
