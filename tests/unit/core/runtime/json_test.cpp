#include "core/runtime/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpuward {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StrEq;

Error refusal_of(std::string_view text, const JsonLimits& limits = {}) {
  auto parsed = parse_json(text, limits);
  return parsed ? Error{ErrorKind::kInternal, "accepted", {}} : parsed.error();
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const auto parsed = parse_json(R"({"a":[1,-2,2.5,true,null,"x"],"b":{"c":{}}})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(dump_json(*parsed), R"({"a":[1,-2,2.5,true,null,"x"],"b":{"c":{}}})");
}

TEST(ParseJson, ReadsScalarsAtTheTop) {
  EXPECT_EQ(*parse_json(" 7 "), Json(7));
  EXPECT_EQ(*parse_json("\"x\""), Json("x"));
}

TEST(ParseJson, KeepsTheWholeRangeOf64Bits) {
  EXPECT_EQ(parse_json("18446744073709551615")->get<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_json("-9223372036854775808")->get<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
}

TEST(ParseJson, RefusesIntegersBeyond64BitsInsteadOfRoundingThem) {
  EXPECT_EQ(refusal_of("18446744073709551616").kind, ErrorKind::kInvalid);
  EXPECT_EQ(refusal_of("-9223372036854775809").kind, ErrorKind::kInvalid);
  EXPECT_THAT(refusal_of(R"({"count": 99999999999999999999})").message, HasSubstr("64 bits"));
}

TEST(ParseJson, RefusesNumbersThatNoDoubleHolds) {
  EXPECT_THAT(refusal_of("[1e999]").message, HasSubstr("number out of range"));
}

TEST(ParseJson, RefusesAKeyThatStandsTwice) {
  const Error error = refusal_of(R"({"node":"a","node":"b"})");
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("duplicate key"));
  EXPECT_THAT(error.message, HasSubstr("byte 18"));
}

TEST(ParseJson, AllowsTheSameKeyInDifferentObjects) {
  EXPECT_TRUE(parse_json(R"([{"a":{"a":1}},{"a":2}])"));
}

TEST(ParseJson, SaysAtWhichByteTheTextIsBroken) {
  EXPECT_THAT(refusal_of(R"({"a":1,})").message, HasSubstr("byte 8"));
  EXPECT_THAT(refusal_of("").message, HasSubstr("byte 1"));
}

TEST(ParseJson, RefusesWhatStandsBehindTheValue) {
  for (const std::string_view text : {"{}x", "{}{}", "1 2", "[],"}) {
    EXPECT_EQ(refusal_of(text).kind, ErrorKind::kInvalid) << text;
  }
}

TEST(ParseJson, SeesWhatStandsBehindANulByte) {
  using namespace std::string_view_literals;
  EXPECT_THAT(refusal_of("{}\0garbage"sv).message, HasSubstr("byte 3: a NUL byte"));
  EXPECT_EQ(refusal_of("\"a\0b\""sv).kind, ErrorKind::kInvalid);
}

TEST(ParseJson, RefusesWhatIsNotUtf8) {
  for (const std::string_view text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
                                      "\"\xf4\x90\x80\x80\"", R"("\ud800")", "{\"\xc3\x28\":1}"}) {
    EXPECT_EQ(refusal_of(text).kind, ErrorKind::kInvalid) << text;
  }
}

TEST(ParseJson, RefusesCommentsAndOtherDialects) {
  for (const std::string_view text :
       {"{/*x*/}", "{a:1}", "{'a':1}", "[NaN]", "[01]", "[+1]", "[.5]", "[0x10]"}) {
    EXPECT_EQ(refusal_of(text).kind, ErrorKind::kInvalid) << text;
  }
}

TEST(ParseJson, NeverQuotesTheInputInAnError) {
  EXPECT_THAT(refusal_of(R"({"token": "s3cret"x})").message, Not(HasSubstr("s3cret")));
  EXPECT_THAT(refusal_of("{\"token\": \"s3cret\xff\"}").message, Not(HasSubstr("s3cret")));
  EXPECT_THAT(refusal_of(R"({"s3cret": 1, "s3cret": 2})").message, Not(HasSubstr("s3cret")));
}

TEST(ParseJson, StopsAtTheDepthCap) {
  EXPECT_TRUE(parse_json("[[[1]]]", {.max_depth = 3}));
  EXPECT_EQ(refusal_of("[[[[1]]]]", {.max_depth = 3}).kind, ErrorKind::kTooLarge);
  EXPECT_EQ(refusal_of(R"({"a":{"a":{"a":{}}}})", {.max_depth = 3}).kind, ErrorKind::kTooLarge);
}

TEST(ParseJson, SurvivesAMillionOpenBrackets) {
  EXPECT_EQ(refusal_of(std::string(1'000'000, '[')).kind, ErrorKind::kTooLarge);
  EXPECT_EQ(refusal_of(std::string(1'000'000, '['), {.max_depth = 2'000'000}).kind,
            ErrorKind::kInvalid);
}

TEST(ParseJson, StopsAtTheCountCap) {
  EXPECT_TRUE(parse_json("[1,2,3]", {.max_values = 4}));
  EXPECT_EQ(refusal_of("[1,2,3,4]", {.max_values = 4}).kind, ErrorKind::kTooLarge);
  EXPECT_EQ(refusal_of("[[],[],[],[]]", {.max_values = 4}).kind, ErrorKind::kTooLarge);
}

TEST(ParseJson, StopsAtTheSizeCapBeforeReading) {
  EXPECT_TRUE(parse_json("[1]", {.max_bytes = 3}));
  EXPECT_EQ(refusal_of("[1] ", {.max_bytes = 3}).kind, ErrorKind::kTooLarge);
}

TEST(ParseJson, StopsAtTheCapOfMembers) {
  EXPECT_TRUE(parse_json(R"({"a":1,"b":{"a":1,"b":2}})", {.max_members = 2}));
  const Error error = refusal_of(R"([{"a":1,"b":2,"c":3}])", {.max_members = 2});
  EXPECT_EQ(error.kind, ErrorKind::kTooLarge);
  EXPECT_EQ(error.message, "JSON rejected at byte 17: more than 2 members in one object");
}

TEST(ParseJson, StopsInsideATokenThatIsTooLong) {
  const JsonLimits limits{.max_token_bytes = 4};
  for (const std::string_view text :
       {R"(["abcd", "\"\"", 1234, true, null, {"abcd": -1.5}])", "1234", "  \n\t    []"}) {
    EXPECT_TRUE(parse_json(text, limits)) << text;
  }
  for (const std::string_view text :
       {R"(["abcde"])", R"({"abcde":1})", "[12345]", "12345", R"(["\u0041"])",
        R"(["ab)"
        "cde\n"}) {
    EXPECT_EQ(refusal_of(text, limits).kind, ErrorKind::kTooLarge) << text;
  }
  EXPECT_EQ(refusal_of(R"(["abcdefghi"])", limits).message,
            "JSON rejected at byte 7: a string or number longer than 4 bytes");
}

// The root and the elements of `text`, each dumped.
std::vector<std::string> read_list(std::string_view text, std::string_view key) {
  std::vector<std::string> elements;
  const auto root =
      parse_json_list(text, {}, {.key = key, .on_element = [&elements](const Json& element) {
                                   elements.push_back(dump_json(element));
                                 }});
  elements.insert(elements.begin(), root ? dump_json(*root) : root.error().message);
  return elements;
}

TEST(ParseJsonList, HandsOverEachElementOfTheMember) {
  EXPECT_THAT(read_list(R"({"a":1,"list":[{"x":{"y":"z"}},7,"t",null,true,{}],"b":"c"})", "list"),
              ElementsAre(R"({"a":1,"b":"c","list":[]})", R"({"x":{"y":"z"}})", "7", R"("t")",
                          "null", "true", "{}"));
}

TEST(ParseJsonList, HandsOverEachElementOfTheRoot) {
  EXPECT_THAT(read_list(R"([{"x":1},2])", ""), ElementsAre("[]", R"({"x":1})", "2"));
  EXPECT_THAT(read_list("[]", ""), ElementsAre("[]"));
}

TEST(ParseJsonList, KeepsNoContainersBelow) {
  EXPECT_THAT(
      read_list(R"({"list":[{"x":{"y":{"z":1},"l":[1]},"l":[{}]},[[1]]],"o":{"p":1},"q":[[2]]})",
                "list"),
      ElementsAre(R"({"list":[],"o":{},"q":[]})", R"({"l":[],"x":{"l":[],"y":{}}})", "[]"));
}

TEST(ParseJsonList, TakesOnlyTheMemberOfTheRootThatIsAList) {
  EXPECT_THAT(read_list(R"({"a":{"list":[1]}})", "list"), ElementsAre(R"({"a":{}})"));
  EXPECT_THAT(read_list(R"({"list":{"list":[1]}})", "list"), ElementsAre(R"({"list":{}})"));
  EXPECT_THAT(read_list(R"([[1],2])", "list"), ElementsAre("[]"));
  EXPECT_THAT(read_list(R"({"x":[1]})", ""), ElementsAre(R"({"x":[]})"));
  EXPECT_THAT(read_list("5", "list"), ElementsAre("5"));
}

TEST(ParseJsonList, RefusesWhatParseJsonRefuses) {
  for (const std::string_view text :
       {R"({"a":1,"a":2})", R"({"o":{"x":[{"a":1,"a":2}]}})", R"({"list":[{"x":[{"a":1,"a":2}]}]})",
        R"({"list":[{"a":1,"a":2}]})", R"({"list":[],"list":[]})", R"({"list":[1,})",
        R"({"list":[18446744073709551616]})", R"({"list":[]}x)", "", "{\"list\":[\"\xff\"]}"}) {
    EXPECT_THAT(read_list(text, "list").front(), StrEq(refusal_of(text).message)) << text;
    EXPECT_THAT(read_list(text, "list").front(), HasSubstr("rejected")) << text;
  }
}

TEST(ParseJsonList, CountsWhatItDoesNotKeep) {
  const JsonList list{.key = "list", .on_element = [](const Json&) {}};
  const auto kind_of = [&list](std::string_view text, const JsonLimits& limits) {
    const auto parsed = parse_json_list(text, limits, list);
    return parsed ? ErrorKind::kInternal : parsed.error().kind;
  };
  EXPECT_EQ(kind_of(R"({"x":[1,2,3]})", {.max_values = 4}), ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of(R"({"list":[1,2,3]})", {.max_values = 4}), ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of(R"({"x":[[[]]]})", {.max_depth = 3}), ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of(R"({"x":[{"a":1,"b":2}]})", {.max_members = 1}), ErrorKind::kTooLarge);
}

// Small members of members would need twenty times their own bytes.
TEST(ParseJsonList, KeepsAtMostSoManyMembersOfOneElement) {
  const JsonList list{.key = "list", .on_element = [](const Json&) {}, .max_kept = 5};
  const std::string one = R"({"a":{"x":{}},"b":{"x":"","y":1}})";

  EXPECT_TRUE(parse_json_list(R"({"list":[)" + one + "," + one + "]}", {}, list));
  const auto refused =
      parse_json_list(R"({"list":[{"a":{"x":{}},"b":{"x":"","y":1,"z":2}}]})", {}, list);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kTooLarge);
  EXPECT_THAT(refused.error().message, HasSubstr("more than 5 members in one element"));
}

TEST(ParseJson, SaysNothingOfTheInputIfThatLooksLikeTheReason) {
  const Error error = refusal_of("{\"x\":\"SECRET; expected LEAK");
  EXPECT_THAT(error.message, Not(HasSubstr("LEAK"))) << error.message;
}

TEST(DumpJson, ReplacesInvalidUtf8InsteadOfThrowing) {
  EXPECT_EQ(dump_json(Json{{"a", "x\xff"}}), "{\"a\":\"x\xef\xbf\xbd\"}");
}

TEST(DumpJson, EscapesWhatReordersOrHidesText) {
  const Json value = {{"line", "a\u202eb\u007f\u2028"}};
  EXPECT_EQ(dump_json(value), R"({"line":"a\u202eb\u007f\u2028"})");
  EXPECT_EQ(parse_json(dump_json(value)).value_or(nullptr), value);
}

TEST(DumpJson, WritesOneLineWithSortedKeys) {
  EXPECT_EQ(dump_json(Json{{"b", "x\ny"}, {"a", 1}}), R"({"a":1,"b":"x\ny"})");
}

TEST(JsonReaders, AnswerTheFallbackIfTheTypeIsAnother) {
  const Json object = *parse_json(R"({"name":"a","count":3})");
  EXPECT_EQ(string_at(object, "name"), "a");
  EXPECT_EQ(string_at(object, "count", "none"), "none");
  EXPECT_EQ(string_at(object, "absent", "none"), "none");
  EXPECT_EQ(string_at(Json("text"), "name", "none"), "none");
}

TEST(JsonReaders, AnswerNullForAMemberThatIsNotThere) {
  const Json object = *parse_json(R"({"a":{"b":1}})");
  EXPECT_EQ(member_at(member_at(object, "a"), "b"), Json(1));
  EXPECT_TRUE(member_at(member_at(object, "x"), "y").is_null());
  EXPECT_TRUE(member_at(Json(7), "x").is_null());
}

}  // namespace
}  // namespace gpuward
