#include "core/kube/informer.h"

#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using ::testing::ElementsAre;

// Runs until the script's end, which the informer sees as kInternal.
class InformerTest : public ApiTest {
 protected:
  void run() {
    InformerHandlers handlers;
    handlers.on_upsert = [&](const Json& object) {
      seen.push_back("+" + string_at(member_at(object, "metadata"), "name") + "@" +
                     string_at(member_at(object, "metadata"), "resourceVersion"));
    };
    handlers.on_delete = [&](const std::string& name) { seen.push_back("-" + name); };
    handlers.on_synced = [&](const std::set<std::string>& names, const std::string& version) {
      seen.emplace_back("synced");
      listed = names;
      listed_version = version;
    };
    handlers.on_heard = [&] { ++heard; };
    handlers.on_went_back = [&](const std::string& why) { went_back.push_back(why); };
    handlers.known = [&] { return written; };
    handlers.on_error = [&](const Error& error) { take(error); };
    Informer(api, clock, "/api/v1/nodes", handlers).run(stop.get_token());
  }
  void take(const Error& error) {
    errors.push_back(error.kind);
    if (error.message.find("the script has ended") != std::string::npos) stop.request_stop();
  }

  static std::string object(const std::string& name, const std::string& version,
                            const std::string& uid = "u") {
    return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
           version + R"("}})";
  }
  static http::ClientResponse listing(const std::string& items, const std::string& version = "10") {
    return answer(
        200, R"({"metadata":{"resourceVersion":")" + version + R"("},"items":[)" + items + "]}");
  }
  static std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
  }
  [[nodiscard]] std::string watched_version(std::size_t request) const {
    const std::string& target = url(request);
    const auto begin = target.find("resourceVersion=") + 16;
    return target.substr(begin, target.find('&', begin) - begin);
  }

  std::stop_source stop;
  std::vector<std::string> seen;
  std::vector<ErrorKind> errors;
  int heard = 0;
  ObjectVersions written;  // by this process
  std::set<std::string> listed;
  std::string listed_version;
  std::vector<std::string> went_back;
};

TEST_F(InformerTest, ListsThenWatches) {
  client.then(listing(object("a", "1")));
  client.then(answer(200, event("MODIFIED", object("a", "11")) + event("ADDED", object("b", "12")) +
                              event("DELETED", object("a", "13"))));
  run();
  EXPECT_THAT(seen, ElementsAre("+a@1", "synced", "+a@11", "+b@12", "-a"));
  EXPECT_EQ(watched_version(1), "10");
}

TEST_F(InformerTest, SaysAllThatACompleteListHasAndItsVersion) {
  client.then(listing(object("a", "1") + "," + object("b", "2")));
  run();
  EXPECT_THAT(listed, ElementsAre("a", "b"));
  EXPECT_EQ(listed_version, "10");
}

TEST_F(InformerTest, WatchesOnFromTheLastVersionSeenBookmarksIncluded) {
  client.then(listing(""));
  client.then(answer(200, event("ADDED", object("a", "11")) + event("BOOKMARK", object("", "40"))));
  run();
  EXPECT_EQ(watched_version(2), "40");
}

TEST_F(InformerTest, AfterALostConnectionItDoesNotListAgain) {
  client.then(listing(""));
  client.then_fail(ErrorKind::kUnavailable);
  client.then(answer(200, event("ADDED", object("a", "11"))));
  run();
  EXPECT_THAT(seen, ElementsAre("synced", "+a@11"));
  EXPECT_EQ(watched_version(2), "10");
  EXPECT_EQ(errors.front(), ErrorKind::kUnavailable);
}

TEST_F(InformerTest, ListsAgainAfterA410AndTellsWhatHasGoneMeanwhile) {
  client.then(listing(object("a", "1") + "," + object("b", "2")));
  client.then(answer(200, event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})")));
  client.then(listing(object("b", "20"), "30"));
  client.then(answer(200, event("ADDED", object("c", "31"))));
  run();
  EXPECT_THAT(seen, ElementsAre("+a@1", "+b@2", "synced", "+b@20", "-a", "synced", "+c@31"));
  EXPECT_EQ(watched_version(3), "30");
}

TEST_F(InformerTest, AnObjectReCreatedUnderItsNameWasDeletedFirst) {
  client.then(listing(object("a", "1", "old")));
  client.then(answer(200, event("MODIFIED", object("a", "11", "new"))));
  client.then(failure(410, "Expired"));
  client.then(listing(object("a", "30", "newer"), "30"));
  run();
  EXPECT_THAT(seen, ElementsAre("+a@1", "synced", "-a", "+a@11", "-a", "+a@30", "synced"));
}

TEST_F(InformerTest, OneBrokenObjectDoesNotCostTheOthers) {
  client.then(listing(R"({"metadata":{}},)" + object("a", "1")));
  run();
  EXPECT_THAT(seen, ElementsAre("+a@1", "synced"));
  EXPECT_EQ(errors.front(), ErrorKind::kInternal);
}

TEST_F(InformerTest, AWatchThatEndsAtOnceWithoutAnEventIsNoHotLoop) {
  client.then(listing(""));
  for (int i = 0; i < 10; ++i) client.then(answer(200, ""));
  const auto began = clock.steady();
  run();
  EXPECT_GE(clock.steady() - began, std::chrono::seconds(60));
}

// Watches are short, so that a dead one is noticed soon.
TEST_F(InformerTest, AQuietWatchThatEndsInItsTimeIsNoFailureAndNeedsNoList) {
  client.then(listing(""));
  client.then(answer(200, event("BOOKMARK", object("", "20"))));
  client.then(answer(200, event("BOOKMARK", object("", "30"))));
  run();
  EXPECT_THAT(seen, ElementsAre("synced"));
  EXPECT_THAT(errors, ElementsAre(ErrorKind::kInternal)) << "the script's end alone";
  EXPECT_EQ(watched_version(2), "20");
  EXPECT_EQ(watched_version(3), "30");
}

TEST_F(InformerTest, NoticesAListThatIsOlderThanWhatItWasTold) {
  client.then(listing(object("a", "1")));
  client.then(answer(200, event("MODIFIED", object("a", "12"))));
  client.then(failure(410, "Expired"));
  client.then(listing(object("a", "1"), "9"));
  run();
  EXPECT_THAT(went_back, ElementsAre("resourceVersion of /api/v1/nodes decreased from 12 to 9"));
  EXPECT_EQ(watched_version(4), "9");
}

TEST_F(InformerTest, NoticesAListThatIsOlderThanAnOwnWrite) {
  written = {{"a", "12"}};
  client.then(listing(object("a", "1"), "9"));
  run();
  EXPECT_THAT(went_back, ElementsAre("resourceVersion of /api/v1/nodes decreased from 12 to 9"));
}

// `etcdutl snapshot restore --bump-revision` raises the store's version, not the objects'.
TEST_F(InformerTest, NoticesAnObjectThatIsOlderThanItWas) {
  written = {{"a", "12"}, {"b", "3"}};
  client.then(listing(object("a", "11") + "," + object("b", "3"), "1000000012"));
  run();
  EXPECT_THAT(went_back,
              ElementsAre("in /api/v1/nodes, a went from resourceVersion 12 back to 11"));
}

// An operator may have restored the store meanwhile, and it may have passed the version from which
// the informer watches.
TEST_F(InformerTest, ListsAgainAfterMoreThan30SecondsOfSilence) {
  client.while_streaming = [this] { clock.advance(std::chrono::seconds(31)); };
  client.then(listing(object("a", "1")));
  client.then_fail(ErrorKind::kTimeout);
  client.then(listing(object("b", "20"), "30"));
  run();
  EXPECT_THAT(seen, ElementsAre("+a@1", "synced", "+b@20", "-a", "synced"));
}

// A restored store has to reach that version again before it sends events after it.
TEST_F(InformerTest, AsksWhereTheStoreStandsAfterAWatchWithoutAWord) {
  client.while_streaming = [this] { clock.advance(std::chrono::seconds(15)); };
  client.then(listing(object("a", "1")));
  client.then(answer(200, ""));
  client.then(listing("", "4"));
  client.then(listing(object("a", "1"), "5"));
  run();
  EXPECT_THAT(url(2), ::testing::EndsWith("/api/v1/nodes?limit=1"));
  EXPECT_THAT(went_back, ElementsAre("resourceVersion of /api/v1/nodes decreased from 10 to 5"));
  EXPECT_EQ(errors.front(), ErrorKind::kGone);
  EXPECT_EQ(heard, 2) << "the two lists";
}

TEST_F(InformerTest, GoesOnAfterAWatchWithoutAWordIfTheStoreHasNotGoneBack) {
  client.while_streaming = [this] { clock.advance(std::chrono::seconds(15)); };
  client.then(listing(object("a", "1")));
  client.then(answer(200, ""));
  client.then(listing("", "10"));
  run();
  EXPECT_THAT(went_back, ::testing::IsEmpty());
  EXPECT_EQ(watched_version(3), "10");
  EXPECT_EQ(heard, 2) << "the list, and the end of the watch";
}

TEST_F(InformerTest, SaysThatTheServerWasHeardButNotWhereItWasNot) {
  client.then(listing(object("a", "1")));
  client.then(answer(200, event("BOOKMARK", object("", "20"))));
  client.then_fail(ErrorKind::kTimeout);
  client.then(failure(500, "InternalError"));
  run();
  EXPECT_EQ(heard, 3) << "the list, the bookmark, the end of that watch";
}

TEST_F(InformerTest, NamesOfNamespacedObjectsSayWhere) {
  client.then(listing(""));
  client.then(answer(
      200,
      event("DELETED", R"({"metadata":{"name":"p","namespace":"ns","resourceVersion":"3"}})")));
  run();
  EXPECT_THAT(seen, ElementsAre("synced", "-ns/p"));
}

}  // namespace
}  // namespace gpuward::kube
