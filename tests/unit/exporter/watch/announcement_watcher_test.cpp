#include "exporter/watch/announcement_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kube/node_announcements.h"
#include "exporter/publish/families.h"
#include "exporter/publish/node/node_change.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_metadata.h"
#include "tests/support/host_tree.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using fakes::FakeMetadata;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

// Lets a test keep the fake that the watcher owns.
class SharedMetadata final : public http::Client {
 public:
  explicit SharedMetadata(FakeMetadata& metadata) : metadata_(metadata) {}
  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    return metadata_.send(request);
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override {
    return metadata_.stream(request, idle, stop, on_bytes);
  }

 private:
  FakeMetadata& metadata_;
};

std::string reboot_at(const std::string& time, const std::string& id = "instance-event-1") {
  return R"([{"NotBefore": ")" + time +
         R"(", "Code": "system-reboot", "Description": "scheduled reboot", "EventId": ")" + id +
         R"(", "State": "active"}])";
}

class AnnouncementWatcherTest : public testing::Test {
 protected:
  void start() {
    watcher = std::make_unique<AnnouncementWatcher>(
        tree.paths(), std::make_unique<SharedMetadata>(metadata), store, policy, clock, log);
  }
  // Advances the clock until `holds` is true of the store.
  bool comes(const std::function<bool(const Snapshot&)>& holds) {
    return support::poll_until([&] {
      clock.advance(1s);
      return holds(store.snapshot());
    });
  }
  bool is_announced(const std::string& start) {
    return comes([&](const Snapshot& seen) {
      return seen.announced.list.size() == 1 &&
             to_rfc3339(seen.announced.list.front().start) == start;
    });
  }
  bool has_finding() const {
    const State state = store.state();
    return state.findings.contains({"announcements", "announced_reboot", "", Evidence::kMeasured});
  }
  // The annotations of the node after the exporter has written to it.
  std::map<std::string, std::string> annotations(kube::Node node = {}) const {
    NodeKeys keys;
    keys.preset = NodePreset::kGpuward;
    keys.has_annotations = true;
    NodeWish wish = wish_of(store.snapshot());
    wish.status = NodeStatus::kWarn;  // as after any check has run
    const auto change = change_of(wish, keys, node, clock.wall());
    std::map<std::string, std::string> all(change.set_annotations.begin(),
                                           change.set_annotations.end());
    return all;
  }

  support::HostTree tree;
  FakeMetadata metadata;
  fakes::FakeClock clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
  CurrentPolicy policy{Settings{}};
  Store store{State{}};
  std::unique_ptr<AnnouncementWatcher> watcher;
};

class OnEc2 : public AnnouncementWatcherTest {
 protected:
  OnEc2() { tree.write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"); }
};

TEST_F(AnnouncementWatcherTest, AsksNobodyOnAMachineThatIsInNoCloud) {
  start();
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.announced.is_read; }));
  clock.advance(10min);
  watcher.reset();
  EXPECT_THAT(metadata.asked(), IsEmpty());
  EXPECT_TRUE(store.snapshot().announced.cloud.empty());
  EXPECT_THAT(store.state().checks, IsEmpty());
}

TEST_F(OnEc2, AsksNobodyIfTheSettingsSaySo) {
  Settings settings;
  settings.announcements.cloud = "none";
  policy.set(settings);
  start();
  EXPECT_TRUE(comes([](const Snapshot& seen) { return seen.announced.is_read; }));
  watcher.reset();
  EXPECT_THAT(metadata.asked(), IsEmpty());
}

TEST_F(OnEc2, AnAnnouncementIsAFindingOfItsOwnWithTheJobsThatItWillHit) {
  Workloads workloads;
  workloads.is_known = true;
  workloads.by_device["GPU-1"] = {{"ml", "train-0", "main"}};
  store.set_workloads(workloads);
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  ASSERT_TRUE(has_finding());
  const Finding finding = store.state().findings.begin()->second;
  EXPECT_EQ(finding.severity, Severity::kMonitor);
  EXPECT_EQ(finding.workload, "ml/train-0");
  EXPECT_THAT(finding.line, HasSubstr("reboot from 2026-11-26T09:00:00Z (aws: system-reboot"));
}

TEST_F(OnEc2, WhatIsAnnouncedStandsOnTheNodeUntilTheCloudSaysThatItIsOver) {
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  kube::Node node;
  node.meta.annotations = annotations();
  ASSERT_EQ(node_announcements_of(node).size(), 1U);
  const auto seen = node_announcements_of(node).front().announced;
  EXPECT_EQ(seen.id, "instance-event-1");
  EXPECT_EQ(seen.kind, AnnouncementKind::kReboot);

  metadata.set(fakes::kScheduledPath, "[]");
  EXPECT_TRUE(comes([](const Snapshot& now) { return now.announced.list.empty(); }));
  EXPECT_FALSE(has_finding());
  EXPECT_THAT(annotations(node), Not(Contains(Key(std::string(kAnnouncementsAnnotation)))));
}

TEST_F(OnEc2, WhatIsMovedKeepsWhenItWasFirstSeen) {
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  const auto first = store.snapshot().announced.list.front().first_seen;
  metadata.set(fakes::kScheduledPath, reboot_at("27 Nov 2026 21:00:00 GMT"));
  ASSERT_TRUE(is_announced("2026-11-27T21:00:00Z"));
  EXPECT_EQ(store.snapshot().announced.list.front().first_seen, first);
}

// A metadata service that is down withdraws no announcement, and says nothing about the node's
// health.
TEST_F(OnEc2, WhatIsKnownStandsWhileTheCloudDoesNotAnswerAndIsStaleInTheEnd) {
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  metadata.fail_with(Error{ErrorKind::kTimeout, "no answer"});
  ASSERT_TRUE(comes([](const Snapshot& seen) { return seen.announced.fault.has_value(); }));
  EXPECT_FALSE(store.snapshot().announced.is_stale);
  EXPECT_TRUE(has_finding());
  ASSERT_TRUE(comes([this](const Snapshot& seen) {
    clock.advance(30s);
    return seen.announced.is_stale;
  }));
  EXPECT_EQ(store.snapshot().announced.list.size(), 1U);
  EXPECT_TRUE(has_finding());
  EXPECT_EQ(store.state().checks.at("announcements").status, CheckStatus::kWarn);
  kube::Node node;
  node.meta.annotations = annotations();
  EXPECT_TRUE(node_announcements_of(node).front().is_stale);

  metadata.fail_with(std::nullopt);
  EXPECT_TRUE(comes([](const Snapshot& seen) { return !seen.announced.is_stale; }));
}

TEST_F(OnEc2, LeavesTheNodeAsItIsUntilTheCloudHasAnsweredOnce) {
  metadata.fail_with(Error{ErrorKind::kTimeout, "no answer"});
  start();
  ASSERT_TRUE(comes([](const Snapshot& seen) { return seen.announced.fault.has_value(); }));
  EXPECT_EQ(wish_of(store.snapshot()).announcements, std::nullopt);
}

TEST_F(OnEc2, ARestartKeepsWhenItWasFirstSeen) {
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  const auto first = store.snapshot().announced.list.front().first_seen;
  watcher.reset();
  clock.advance(1h);
  start();
  ASSERT_TRUE(
      comes([&](const Snapshot& seen) { return seen.announced.last_read > first + 59min; }));
  EXPECT_EQ(store.snapshot().announced.list.front().first_seen, first);
}

// An announcement is not a verdict: it neither passes a node nor keeps one from passing.
TEST_F(OnEc2, SaysNothingOfWhetherTheNodeIsHealthy) {
  start();
  ASSERT_TRUE(comes([](const Snapshot& seen) { return seen.announced.is_read; }));
  ASSERT_TRUE(store.state().checks.contains("announcements"));
  EXPECT_EQ(wish_of(store.snapshot()).status, NodeStatus::kUnknown);
}

TEST_F(OnEc2, MetricsSayWhatStartsWhenByWhom) {
  metadata.set(fakes::kScheduledPath, reboot_at("26 Nov 2026 09:00:00 GMT"));
  start();
  ASSERT_TRUE(is_announced("2026-11-26T09:00:00Z"));
  Families families;
  append_announcement_families(store.snapshot(), families);
  ASSERT_EQ(families.size(), 4U);
  ASSERT_EQ(families[0].samples.size(), 1U);
  EXPECT_EQ(families[0].samples[0].labels, (metrics::Labels{"reboot", "instance-event-1", "aws"}));
  EXPECT_EQ(families[0].samples[0].value, 1795683600.0);
  EXPECT_THAT(families[1].samples, IsEmpty());
  EXPECT_EQ(families[2].samples[0].value, 1.0);
}

}  // namespace
}  // namespace gpuward::exporter
