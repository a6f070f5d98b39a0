// The places of the real Kubernetes programs, and the handling of a missing one.
#include "tests/support/kubernetes_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/environment.h"
#include "tests/support/neighbours.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::support {
namespace {

using ::testing::MatchesRegex;

std::filesystem::path program_in(const TempDir& folder, const std::string& name) {
  std::filesystem::create_directories((folder / name).parent_path());
  const auto path = folder.write(name, "#!/bin/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// The path in the folder of the version that tests/controlplane/go.mod names.
std::string pinned(const std::string& program) {
  return "kubernetes-" + version_of(kKubernetes) + "/" + program;
}

TEST(KubernetesParts, AreTakenFromTheCache) {
  const TempDir cache;
  const auto apiserver = program_in(cache, pinned("kube-apiserver"));
  const auto etcd = program_in(cache, pinned("etcd"));
  const Environment where("GPUWARD_CACHE", cache.path().string());
  const Environment none("KUBE_APISERVER", "");
  EXPECT_EQ(find_kubernetes_parts().apiserver, apiserver);
  EXPECT_EQ(find_kubernetes_parts().etcd, etcd);
}

TEST(KubernetesParts, HaveTheVersionThatGoModNames) {
  EXPECT_THAT(version_of(kKubernetes), MatchesRegex("1\\.[0-9]+\\.[0-9]+"));
}

TEST(KubernetesParts, GiveWayToTheApiServerThatSomebodyNames) {
  const TempDir cache;
  program_in(cache, pinned("kube-apiserver"));
  const auto own = program_in(cache, "own/kube-apiserver");
  const Environment where("GPUWARD_CACHE", cache.path().string());
  const Environment named("KUBE_APISERVER", own.string());
  EXPECT_EQ(find_kubernetes_parts().apiserver, own);
}

TEST(Requirement, LeavesACaseToTheTierThatHasIt) {
  const Environment test("GPUWARD_TIER", "test");
  EXPECT_FALSE(is_left_to(Tier::kTest));
  EXPECT_TRUE(is_left_to(Tier::kLanding));
  const Environment landing("GPUWARD_TIER", "landing");
  EXPECT_FALSE(is_left_to(Tier::kLanding));
  EXPECT_TRUE(is_left_to(Tier::kAll));
}

TEST(Requirement, IsAFailureOnlyInTheTiersThatPromiseIt) {
  for (const auto& [tier, promised] : std::map<std::string, bool>{
           {"", false}, {"test", false}, {"landing", true}, {"all", true}}) {
    const Environment running("GPUWARD_TIER", tier);
    EXPECT_EQ(nothing_may_be_missing(), promised) << tier;
  }
}

TEST(Requirement, LeavesNothingToAnotherTierIfATestIsRunByHand) {
  const Environment none("GPUWARD_TIER", "");
  EXPECT_FALSE(is_left_to(Tier::kAll));
}

TEST(Requirement, NamesTheProgramThatIsMissing) {
  EXPECT_EQ(why_no_program("sh"), "");
  EXPECT_NE(why_no_program("no-such-program").find("`no-such-program`"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::support
