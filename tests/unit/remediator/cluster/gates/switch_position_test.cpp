#include "remediator/cluster/gates/switch_position.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

const SwitchPlace kSwitchPlace{"gpuward", "switch"};

Status position(const Result<kube::ConfigMap>& read) { return permission_of(kSwitchPlace, read); }

Status saying(const std::string& value) {
  return position(kube::ConfigMap{.meta = {}, .data = {{"stop", value}}});
}

void expect_stop(const Status& status, const std::string& why) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kBlocked);
  EXPECT_THAT(status.error().message, HasSubstr(why));
}

TEST(SwitchPosition, OnlyAPlainFalseLetsWorkGoOn) {
  EXPECT_TRUE(saying("false"));
  EXPECT_TRUE(saying(" false\n"));
  for (const char* other : {"", "False", "FALSE", "no", "0", "off", "false false", "\"false\""}) {
    expect_stop(saying(other), R"(", not "true" or "false")");
  }
}

TEST(SwitchPosition, TrueStopsAndSaysHowToGoOn) {
  expect_stop(saying("true"), R"(ConfigMap gpuward/switch says stop: "true")");
  expect_stop(saying("true"), "; resume with: gpuwardctl start");
  const auto elsewhere = permission_of({"healing", "switch"}, kube::ConfigMap());
  expect_stop(elsewhere, "resume with: gpuwardctl start -n healing");
}

TEST(SwitchPosition, AMissingKeyStops) { expect_stop(position(kube::ConfigMap{}), "no key stop"); }

TEST(SwitchPosition, AMissingConfigMapStopsAndSaysHowToMakeIt) {
  expect_stop(position(fail(ErrorKind::kNotFound, "not found")),
              "there is no ConfigMap gpuward/switch; resume with: gpuwardctl start");
}

TEST(SwitchPosition, WhatCannotBeReadStops) {
  for (const auto kind : {ErrorKind::kTimeout, ErrorKind::kUnavailable, ErrorKind::kForbidden,
                          ErrorKind::kUnauthenticated, ErrorKind::kOverloaded,
                          ErrorKind::kCancelled, ErrorKind::kInternal, ErrorKind::kInvalid}) {
    expect_stop(position(fail(kind, "some reason")), "cannot be read: some reason");
  }
}

TEST(SwitchPosition, ALongOrUnreadableValueIsShownCut) {
  const auto status = saying(std::string(10'000, 'x') + "\xff\x1b");
  expect_stop(status, "xxx");
  EXPECT_LT(status.error().message.size(), 300U);
}

}  // namespace
}  // namespace gpuward::remediator
