#include "remediator/policy/drain_settings.h"

#include <gmock/gmock.h>

#include "remediator/model/pod_facts.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<DrainSettings> settings_in(const std::string& yaml, DrainSettings defaults = {}) {
  auto file = YamlFile::parse(yaml, "policy.yaml");
  if (!file) return std::unexpected(file.error());
  DrainSettings settings = read_drain_settings(file->root().map("drain"), std::move(defaults));
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  return settings;
}

TEST(DrainSettingsFile, HoldsUnlessTold) {
  const auto settings = settings_in("");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->pods, DrainedPods::kAll);
  EXPECT_EQ(settings->deadline, minutes(30));
  EXPECT_EQ(settings->on_deadline, OnDeadline::kHold);
  EXPECT_FALSE(settings->grace_period);
  EXPECT_TRUE(settings->evicts_empty_dir);
  EXPECT_FALSE(settings->evicts_unmanaged);
  EXPECT_FALSE(settings->overrides_do_not_disrupt);
  EXPECT_EQ(settings->unreachable, UnreachablePods::kWait);
}

TEST(DrainSettingsFile, ReadsEveryKey) {
  const auto settings = settings_in(R"(
drain:
  pods: gpu
  deadline: 2h
  on_deadline: delete
  grace_period: 90s
  empty_dir: refuse
  unmanaged: evict
  namespaces:
    - {name: "train-*", mode: wait, up_to: 1h}
    - {name: batch, mode: delete, up_to: 10m}
    - {name: "*", mode: evict}
  skipped_namespaces: [gpu-operator]
  override_do_not_disrupt: true
  unreachable: forget
)");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->pods, DrainedPods::kGpu);
  EXPECT_EQ(settings->deadline, hours(2));
  EXPECT_EQ(settings->on_deadline, OnDeadline::kDelete);
  EXPECT_EQ(settings->grace_period, seconds(90));
  EXPECT_FALSE(settings->evicts_empty_dir);
  EXPECT_TRUE(settings->evicts_unmanaged);
  ASSERT_EQ(settings->namespaces.size(), 3U);
  EXPECT_EQ(settings->namespaces[0].name, "train-*");
  EXPECT_EQ(settings->namespaces[0].up_to, hours(1));
  EXPECT_EQ(settings->namespaces[1].mode, NamespaceMode::kDelete);
  EXPECT_EQ(settings->namespaces[2].mode, NamespaceMode::kEvict);
  EXPECT_THAT(settings->skipped_namespaces, ElementsAre("gpu-operator"));
  EXPECT_TRUE(settings->overrides_do_not_disrupt);
  EXPECT_EQ(settings->unreachable, UnreachablePods::kForget);
}

TEST(DrainSettingsFile, AStepChangesOnlyWhatItNames) {
  DrainSettings policy;
  policy.deadline = hours(1);
  policy.skipped_namespaces = {"kube-system"};
  const auto settings = settings_in("drain: {pods: gpu}", policy);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->pods, DrainedPods::kGpu);
  EXPECT_EQ(settings->deadline, hours(1));
  EXPECT_THAT(settings->skipped_namespaces, ElementsAre("kube-system"));
}

TEST(DrainSettingsFile, SaysWhereAWordIsWrong) {
  const auto settings = settings_in("drain:\n  on_deadline: kill\n  unmanaged: \"yes\"\n");
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message,
              AllOf(HasSubstr("policy.yaml:2: drain.on_deadline: must be one of hold, delete"),
                    HasSubstr("policy.yaml:3: drain.unmanaged: must be one of evict, refuse")));
}

TEST(DrainSettingsFile, RefusesAWaitThatTheDeadlineCutsShort) {
  const auto settings =
      settings_in("drain:\n  deadline: 10m\n  namespaces: [{name: a, mode: wait, up_to: 10m}]\n");
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("up_to: must be shorter than the drain's"));
}

TEST(DrainSettingsFile, RefusesAWaitWithoutAnEnd) {
  const auto settings = settings_in("drain:\n  namespaces: [{name: a, mode: delete}]\n");
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("limits how long such pods may take"));
}

TEST(DrainSettingsFile, RefusesAWordThatNothingActsOn) {
  const auto settings = settings_in("drain: {unreachable: out_of_service}");
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message,
              HasSubstr("drain.unreachable: must be one of wait, forget"));
}

TEST(DrainSettingsFile, RefusesKeysThatNobodyKnows) {
  EXPECT_FALSE(settings_in("drain: {force: true}"));
  EXPECT_FALSE(settings_in("drain: {grace_period: 0s}"));
}

TEST(EvictionRateFile, HasBounds) {
  auto file = YamlFile::parse("per_second: 150\nburst: 200\nmost_in_flight: 128\n", "p");
  const EvictionRate rate = read_eviction_rate(file->root());
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(rate.per_second, 150);
  EXPECT_EQ(rate.burst, 200);
  EXPECT_EQ(rate.most_in_flight, 128);
  auto none = YamlFile::parse("most_in_flight: 0\n", "p");
  static_cast<void>(read_eviction_rate(none->root()));
  EXPECT_FALSE(none->finish());
}

TEST(Globs, KnowStarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("train-*", "train-a"));
  EXPECT_TRUE(matches_glob("*", "anything"));
  EXPECT_TRUE(matches_glob("a?c", "abc"));
  EXPECT_FALSE(matches_glob("train", "train-a"));
  EXPECT_FALSE(matches_glob("train-*", "my-train-a"));
}

}  // namespace
}  // namespace gpuward::remediator
