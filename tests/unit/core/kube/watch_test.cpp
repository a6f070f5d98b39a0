#include "core/kube/watch_lines.h"
#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using Type = WatchEvent::Type;

class WatchTest : public ApiTest {
 protected:
  Status watch(const std::string& version = "7") {
    return api.watch("/api/v1/nodes", version, {},
                     [this](const WatchEvent& event) { events.push_back(event); });
  }
  std::vector<WatchEvent> events;
};

std::string event_line(const std::string& type, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":"n1","resourceVersion":")" +
         version + "\"}}}\n";
}

TEST_F(WatchTest, AsksForBookmarksAndAnEnd) {
  client.then(answer(200, ""));
  ASSERT_TRUE(watch("a/b"));
  EXPECT_TRUE(url(0).starts_with(
      "https://api:6443/api/v1/"
      "nodes?watch=true&allowWatchBookmarks=true&resourceVersion=a%2Fb&timeoutSeconds="));
  const int asked = std::stoi(url(0).substr(url(0).rfind('=') + 1));
  EXPECT_GE(asked, 15);
  EXPECT_LE(asked, 20);
}

// The server would have ended the watch by that time. Steps may rely on a view of at most half a
// minute.
TEST_F(WatchTest, TakesALongerSilenceThanItsTimeForADeadConnection) {
  client.then(answer(200, ""));
  ASSERT_TRUE(watch());
  const int asked = std::stoi(url(0).substr(url(0).rfind('=') + 1));
  EXPECT_GT(client.longest_silence, std::chrono::seconds(asked));
  EXPECT_LT(client.longest_silence, std::chrono::seconds(30));
}

TEST_F(WatchTest, AsksForThoseThatItsOptionsSelectAndForTheirTime) {
  client.then(answer(200, ""));
  const WatchOptions options{.field_selector = "metadata.name=n1",
                             .shortest = std::chrono::seconds(300),
                             .longest = std::chrono::seconds(300),
                             .longest_silence = std::chrono::minutes(2)};
  ASSERT_TRUE(api.watch("/api/v1/nodes", "0", {}, [](const WatchEvent&) {}, options));
  EXPECT_TRUE(
      url(0).ends_with("&resourceVersion=0&timeoutSeconds=300&fieldSelector=metadata.name%3Dn1"));
  EXPECT_EQ(client.longest_silence, std::chrono::minutes(2));
}

TEST_F(WatchTest, HandsOutEventsInOrderHoweverTheBytesFall) {
  client.then(answer(200, event_line("ADDED", "8") + event_line("MODIFIED", "9") +
                              event_line("DELETED", "10") + event_line("BOOKMARK", "20")));
  ASSERT_TRUE(watch());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].type, Type::kAdded);
  EXPECT_EQ(events[1].type, Type::kModified);
  EXPECT_EQ(events[2].type, Type::kDeleted);
  EXPECT_EQ(events[3].type, Type::kBookmark);
  EXPECT_EQ(events[3].resource_version, "20");
  EXPECT_EQ(dump_json(*events[0].object), R"({"metadata":{"name":"n1","resourceVersion":"8"}})");
}

TEST_F(WatchTest, AnErrorEventInsideA200IsAnError) {
  client.then(answer(
      200,
      event_line("ADDED", "8") +
          R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old resource version"}})"
          "\n" +
          event_line("ADDED", "9")));
  const auto ended = watch();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kGone);
  EXPECT_EQ(events.size(), 1U);
}

TEST_F(WatchTest, AnHttp410IsGoneToo) {
  client.then(failure(410, "Gone"));
  EXPECT_EQ(watch().error().kind, ErrorKind::kGone);
}

TEST_F(WatchTest, RenewsTheTokenAfterA401) {
  credentials.after_rejection = "two";
  client.then(failure(401, "Unauthorized"));
  client.then(answer(200, event_line("ADDED", "8")));
  EXPECT_TRUE(watch());
  EXPECT_EQ(events.size(), 1U);
}

TEST_F(WatchTest, ABrokenLineEndsTheWatch) {
  client.then(answer(200, "{\"type\":\n" + event_line("ADDED", "8")));
  EXPECT_EQ(watch().error().kind, ErrorKind::kInternal);
  client.then(answer(200, event_line("REPLACED", "8")));
  EXPECT_EQ(watch().error().kind, ErrorKind::kInternal);
  EXPECT_TRUE(events.empty());
}

TEST_F(WatchTest, ALineThatTheServerNeverFinishedIsNoEvent) {
  std::string half = event_line("ADDED", "8");
  half.resize(half.size() / 2);
  client.then(answer(200, event_line("ADDED", "7") + half));
  EXPECT_TRUE(watch());
  EXPECT_EQ(events.size(), 1U);
}

TEST(LineSplitter, RefusesALineOverItsCap) {
  LineSplitter lines(8);
  int seen = 0;
  const auto count = [&](std::string_view) -> Status { return ++seen, Status(); };
  EXPECT_TRUE(lines.feed("12345678\n", count));
  EXPECT_TRUE(lines.feed("1234", count));
  const auto over = lines.feed("56789", count);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().kind, ErrorKind::kTooLarge);
  EXPECT_EQ(seen, 1);
}

TEST(LineSplitter, PassesOverEmptyLines) {
  LineSplitter lines(8);
  std::vector<std::string> seen;
  const auto take = [&](std::string_view line) -> Status {
    return seen.emplace_back(line), Status();
  };
  EXPECT_TRUE(lines.feed("\n\na\n\nb", take));
  EXPECT_TRUE(lines.feed("c\n", take));
  EXPECT_THAT(seen, ::testing::ElementsAre("a", "bc"));
}

}  // namespace
}  // namespace gpuward::kube
