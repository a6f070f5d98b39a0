#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/kube/decode.h"
#include "core/kube/informer.h"
#include "tests/contract/contract_test.h"
#include "tests/support/wait.h"

namespace gpuward::contract {
namespace {

using kube::WatchEvent;
using Type = kube::WatchEvent::Type;
using support::wait_until;

class WatchContract : public ContractTest {
 protected:
  void create(const std::string& name) {
    must("POST", kGadgets,
         {{"apiVersion", "contract.gpuward.dev/v1"},
          {"kind", "Gadget"},
          {"metadata", {{"name", name}}},
          {"spec", {{"severity", "reset"}}}});
  }
  void patch(const std::string& name) {
    must("PATCH", std::string(kGadgets) + "/" + name, {{"spec", {{"severity", "reboot"}}}});
  }
  void remove(const std::string& name) { must("DELETE", std::string(kGadgets) + "/" + name); }
};
GPUWARD_CONTRACT(WatchContract);

// Watches on its own thread until it is destroyed.
class Watcher {
 public:
  Watcher(kube::Api& api, std::string version, const kube::WatchOptions& options = {})
      : thread_([this, &api, from = std::move(version), options](const std::stop_token& stop) {
          auto ended = api.watch(
              kGadgets, from, stop, [this](const WatchEvent& event) { take(event); }, options);
          const std::lock_guard lock(mutex_);
          ended_ = std::move(ended);
        }) {}

  // The changes of objects as "ADDED a", without bookmarks.
  [[nodiscard]] std::vector<std::string> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  [[nodiscard]] std::optional<Status> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  void stop() { thread_.request_stop(); }

 private:
  void take(const WatchEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.type == Type::kBookmark) return;
    const auto meta = kube::decode_meta(*event.object);
    const char* const types[] = {"ADDED ", "MODIFIED ", "DELETED "};
    seen_.push_back(types[static_cast<std::size_t>(event.type)] + (meta ? meta->name : "?"));
  }
  std::mutex mutex_;
  std::vector<std::string> seen_;
  std::optional<Status> ended_;
  std::jthread thread_;
};

TEST_P(WatchContract, TellsWhatHappenedSinceAVersionInOrder) {
  const auto version = api().visit(kGadgets, {}, {});
  ASSERT_TRUE(version) << version.error().message;
  create(own_name());
  patch(own_name());
  Watcher watcher(api(), *version);
  remove(own_name());
  ASSERT_TRUE(wait_until([&] { return watcher.seen().size() >= 3; }, "three events"));
  EXPECT_THAT(watcher.seen(),
              ::testing::ElementsAre("ADDED " + own_name(), "MODIFIED " + own_name(),
                                     "DELETED " + own_name()));
}

TEST_P(WatchContract, OfOneObjectBeginsWithItAndTellsOfNoOther) {
  create(own_name("-one"));
  create(own_name("-other"));
  Watcher watcher(api(), "0", {.field_selector = "metadata.name=" + own_name("-one")});
  ASSERT_TRUE(wait_until([&] { return watcher.seen().size() == 1; }, "the object as it is"));
  patch(own_name("-other"));
  patch(own_name("-one"));
  remove(own_name("-other"));
  remove(own_name("-one"));
  ASSERT_TRUE(wait_until([&] { return watcher.seen().size() >= 3; }, "three events"));
  EXPECT_THAT(watcher.seen(),
              ::testing::ElementsAre("ADDED " + own_name("-one"), "MODIFIED " + own_name("-one"),
                                     "DELETED " + own_name("-one")));
}

TEST_P(WatchContract, EndsSoonAfterAStop) {
  const auto version = api().visit(kGadgets, {}, {});
  ASSERT_TRUE(version);
  Watcher watcher(api(), *version);
  create(own_name());
  ASSERT_TRUE(wait_until([&] { return !watcher.seen().empty(); }, "an event"));
  watcher.stop();
  // The server ends a watch itself after about five minutes.
  ASSERT_TRUE(wait_until([&] { return watcher.ended().has_value(); }, support::kGenerousRequest,
                         "the watch's end"));
  ASSERT_FALSE(*watcher.ended());
  EXPECT_EQ(watcher.ended()->error().kind, ErrorKind::kCancelled);
}

TEST_P(WatchContract, FromAVersionThatIsTooOldSaysListAgain) {
  create(own_name());
  target().outdate_history();
  const auto ended = api().watch(kGadgets, "1", {}, [](const WatchEvent&) {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kGone) << ended.error().message;
}

TEST_P(WatchContract, AnInformerFollowsACollection) {
  create(own_name("-old"));
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto note = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    if (what.find(own_name()) != std::string::npos || what == "synced") seen.push_back(what);
  };
  const auto saw = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    return std::find(seen.begin(), seen.end(), what) != seen.end();
  };
  kube::InformerHandlers handlers;
  handlers.on_upsert = [&](const Json& object) { note("+" + kube::decode_meta(object)->name); };
  handlers.on_delete = [&](const std::string& name) { note("-" + name); };
  handlers.on_synced = [&](const auto&, const auto&) { note("synced"); };
  SystemClock clock;
  std::jthread informer([&](const std::stop_token& stop) {
    kube::Informer(api(), clock, kGadgets, handlers).run(stop);
  });
  ASSERT_TRUE(wait_until([&] { return saw("synced"); }, "a list"));
  EXPECT_TRUE(saw("+" + own_name("-old")));
  create(own_name("-new"));
  EXPECT_TRUE(wait_until([&] { return saw("+" + own_name("-new")); }, "the new one"));
  remove(own_name("-old"));
  EXPECT_TRUE(wait_until([&] { return saw("-" + own_name("-old")); }, "the old one's end"));
}

}  // namespace
}  // namespace gpuward::contract
