// `./dev`, the one script for developers, on a made-up machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/runtime/files.h"
#include "tests/dev/checkout.h"
#include "tests/places.inc"

namespace gpuward::dev {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTook = "\n    done in [0-9]+ s\n";

TEST(Dev, NamesItsCommands) {
  const auto said = Checkout().dev({"help"});
  EXPECT_EQ(said.exit_code, 0);
  for (const char* command : {"demo", "test", "test --all", "test --changed", "build", "bench",
                              "lint", "docs", "manifests", "release", "deps"}) {
    EXPECT_THAT(said.output, HasSubstr("\n  " + std::string(command) + " "));
  }
}

TEST(Dev, RefusesACommandThatItDoesNotKnow) { EXPECT_EQ(Checkout().dev({"tset"}).exit_code, 2); }

TEST(Dev, InstallsWhatIsMissingAndSaysHowLongItTook) {
  const Checkout checkout;
  const auto said = checkout.dev({"deps"}, {{"MISSING", "openssl"}});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, ContainsRegex("==> installing openssl" + std::string(kTook)));
  EXPECT_THAT(checkout.asked(), ContainsRegex("apt-get .*install .* openssl\n"));
}

TEST(Dev, InstallsNoPackageThatIsThere) {
  const Checkout checkout;
  EXPECT_EQ(checkout.dev({"deps", "--all"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), Not(HasSubstr("apt-get")));
}

TEST(Dev, BuildsTheNeighboursThatACommandNeedsAndNoOther) {
  const Checkout checkout;
  EXPECT_EQ(checkout.dev({"deps"}).exit_code, 0);
  EXPECT_EQ(checkout.asked(), "neighbours need civetweb\n");
  EXPECT_EQ(checkout.dev({"deps", "--all"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), ContainsRegex("neighbours need api-server .* karpenter .* moto "));
}

TEST(Dev, NamesThePackageThatCannotBeInstalled) {
  const auto said = Checkout().dev(
      {"deps"}, {{"MISSING", "g++ openssl prometheus"}, {"UNINSTALLABLE", "openssl"}});
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.error_output, HasSubstr("could not install the Debian package 'openssl'"));
  EXPECT_THAT(said.error_output, Not(HasSubstr("'prometheus'")));
}

TEST(Dev, BuildsAndDoesNotConfigureASecondTime) {
  const Checkout checkout;
  const auto first = checkout.dev({"build"});
  EXPECT_THAT(first.output, ContainsRegex("==> configuring release" + std::string(kTook) +
                                          "==> building release" + kTook));
  const auto second = checkout.dev({"build"});
  EXPECT_THAT(second.output, Not(HasSubstr("configuring")));
  EXPECT_THAT(checkout.asked(), ContainsRegex("cmake --preset release[ \n]"));
}

TEST(Dev, SaysWhichTestsItSkippedAndWhy) {
  const auto said = Checkout().dev({"test"}, {{"SKIPPED", "no etcd on PATH"}});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, HasSubstr("Not run here, and why"));
  EXPECT_THAT(said.output, HasSubstr("no etcd on PATH"));
}

TEST(Dev, SaysNothingOfSkippingIfNothingWasSkipped) {
  EXPECT_THAT(Checkout().dev({"test"}).output, Not(HasSubstr("Not run here")));
}

TEST(Dev, FailsIfATierSkipsACaseThatItHas) {
  const auto said = Checkout().dev({"test", "--landing"}, {{"SKIPPED", "mounted with noatime"}});
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.error_output, HasSubstr("A case was skipped that this tier has"));
  EXPECT_EQ(Checkout()
                .dev({"test", "--landing"}, {{"SKIPPED", "runs with `./dev test --all`"}})
                .exit_code,
            0);
}

TEST(Dev, RunsNothingOnAnotherApiServerThatCannotBeBuilt) {
  const Checkout checkout;
  checkout.script("tests/neighbours/neighbours", "#!/bin/sh\n[ \"$1\" != api-server ]\n");
  EXPECT_NE(checkout.dev({"test", "--kubernetes", "1.99.0"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), Not(HasSubstr("ctest")));
  EXPECT_NE(Checkout().dev({"test", "--kubernetes"}).exit_code, 0);
}

// A test fails if a part that its tier has is missing (tests/support/require.h). ctest's summary
// comes last.
TEST(Dev, SaysWhichTierRunsAndWhereItsTimeWent) {
  for (const auto& [arguments, tier] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"test"}, "test"}, {{"test", "--landing"}, "landing"}, {{"test", "--all"}, "all"}}) {
    const Checkout checkout;
    const auto said = checkout.dev(arguments);
    EXPECT_EQ(said.exit_code, 0) << said.error_output;
    EXPECT_THAT(checkout.asked(), ContainsRegex("ctest .* GPUWARD_TIER=" + tier + "\n"));
    EXPECT_THAT(said.output, ContainsRegex("Where the time went(.|\n)* building release\n(.|\n)*"
                                           "61 long_test\n"));
    EXPECT_THAT(said.output, ::testing::EndsWith("100% tests passed, 0 tests failed out of 2\n"));
  }
}

TEST(Dev, BeginsNoTestOfAHigherTier) {
  const Checkout checkout;
  EXPECT_EQ(checkout.dev({"test"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), HasSubstr("--label-exclude ^(landing|all)$ "));
  EXPECT_EQ(checkout.dev({"test", "--landing"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), HasSubstr("--label-exclude ^all$ "));
}

TEST(Dev, TestsAllPresetsIfAllIsAskedFor) {
  const Checkout checkout;
  EXPECT_EQ(checkout.dev({"test", "--all"}).exit_code, 0);
  for (const char* preset : {"release", "asan", "tsan"}) {
    EXPECT_THAT(checkout.asked(), ContainsRegex("cmake --preset " + std::string(preset) + "[ \n]"));
  }
}

TEST(Dev, EndsTheTestsOnTheClusterIfTheRestCannotBeBuilt) {
  const Checkout checkout;
  const auto said = checkout.dev({"test", "--all"}, {{"UNBUILDABLE", "asan"}});
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(checkout.asked(), HasSubstr("cluster ends\n"));
  EXPECT_THAT(checkout.asked(), Not(HasSubstr("ctest")));
}

TEST(Dev, FailsIfATestFails) {
  EXPECT_EQ(Checkout().dev({"test"}, {{"TESTS_END_WITH", "8"}}).exit_code, 8);
  EXPECT_EQ(Checkout().dev({"test", "--all"}, {{"TESTS_END_WITH", "8"}}).exit_code, 8);
}

TEST(Dev, RunsOfWhatHasChangedOnlyTheTestsThatItCanBreak) {
  const Checkout checkout;
  checkout.script("build/release/bin/a_test", "");
  checkout.script("build/release/bin/b_test", "");
  checkout.script("build/release/bin/program", "");
  checkout.script("build/release/files_of_tests.txt",
                  "a_test build/release/bin/a_test\n"
                  "b_test build/release/bin/b_test build/release/bin/program\n");
  const std::string all =
      "-R ^(a_test|architecture_test|b_test|printed_words_test|reference_test)$ ";
  EXPECT_EQ(checkout.dev({"test", "--changed"}, {{"TESTS_END_WITH", "8"}}).exit_code, 8);
  EXPECT_THAT(checkout.asked(), HasSubstr(all));
  EXPECT_EQ(checkout.dev({"test", "--changed"}).exit_code, 0);
  EXPECT_THAT(checkout.asked().substr(checkout.asked().find(all) + 1), HasSubstr(all))
      << "some had failed";

  checkout.script("build/release/bin/program", "another");
  EXPECT_EQ(checkout.dev({"test", "--changed"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(),
              HasSubstr("-R ^(architecture_test|b_test|printed_words_test|reference_test)$ "));

  checkout.script("build/release/bin/a_test", "another");
  EXPECT_EQ(checkout.dev({"test", "--changed"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(),
              HasSubstr("-R ^(a_test|architecture_test|printed_words_test|reference_test)$ "));
}

TEST(Dev, RunsTestsManyTimesBesideABusyMachine) {
  const Checkout checkout;
  EXPECT_EQ(checkout.dev({"test", "--stress", "3", "^e2e"}).exit_code, 0);
  EXPECT_THAT(checkout.asked(), ContainsRegex("ctest .*--repeat until-fail:3 -R \\^e2e "));
}

TEST(Dev, TestsWithARealLokiWhatItTestsWithAFakeOne) {
  const Checkout checkout;
  checkout.script("build/release/bin/loki_test", "#!/bin/sh\necho \"loki_test $*\"\n");
  const auto said = checkout.dev({"test", "--loki", "--gtest_filter=Real*"});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output,
              ContainsRegex("==> building release(.|\n)*loki_test --gtest_filter=Real"));
}

TEST(Dev, BuildsBeforeItShowsTheDemo) {
  const Checkout checkout;
  checkout.script("build/release/bin/gpuward-demo", "#!/bin/sh\necho the story\n");
  const auto said = checkout.dev({"demo"});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, ContainsRegex("==> building release(.|\n)*the story\n"));
}

TEST(Dev, BuildsNothingForTheHelpOfTheCluster) {
  const Checkout checkout;
  checkout.script("tests/cluster/cluster", "#!/bin/sh\necho \"cluster $*\"\n");
  EXPECT_EQ(checkout.dev({"cluster", "--help"}).output, "cluster --help\n");
  EXPECT_EQ(checkout.dev({"cluster", "up", "-h"}).output, "cluster up -h\n");
  EXPECT_EQ(checkout.dev({"cluster", "test", "--help"}).output, "cluster --help\n");
  EXPECT_EQ(checkout.asked(), "");
}

// The file with the pid of process 1 marks a machine that is up.
TEST(Dev, SaysHowToReachTheClusterThatIsUpAlready) {
  const support::TempDir folder;
  for (const char* name : {"gpu-1", "helm"}) std::filesystem::create_directory(folder / name);
  folder.write("gpu-1/pid", "1\n");
  std::filesystem::permissions(folder.write("helm/helm", ""), std::filesystem::perms::owner_all);
  const auto said = support::Process::run(
      {.argv = {"/usr/bin/python3", GPUWARD_SOURCE_DIR "/tests/cluster/cluster", "up"},
       .env = {{"GPUWARD_CLUSTER", folder.path().string()},
               {"KUBE_DIR", "/kubernetes"},
               {"PROMETHEUS_DIR", "/prometheus"},
               {"PYTHONDONTWRITEBYTECODE", "1"},
               {"PATH", folder.path().string() + "/helm:/usr/bin:/bin"}}});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->exit_code, 0);
  EXPECT_THAT(said->output,
              ContainsRegex("up already.*\n +export KUBECONFIG=" + folder.path().string() +
                            "/kubeconfig\n +export PATH=/kubernetes:.*/helm:.*bin:.PATH\n"));
}

TEST(Dev, RunsEveryBenchmarkAndFailsIfOneBreaksItsPromise) {
  const Checkout checkout;
  checkout.script("build/release/bin/a_bench", "#!/bin/sh\necho first figures\n");
  checkout.script("build/release/bin/b_bench", "#!/bin/sh\nexit 1\n");
  const auto said = checkout.dev({"bench"});
  EXPECT_THAT(said.output, HasSubstr("first figures"));
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.error_output, HasSubstr("FAILED: b_bench"));
}

// It makes a folder for the version of the tree, and leaves none if it fails.
TEST(Dev, ReleasesTheVersionOfTheTree) {
  const Checkout checkout;
  checkout.script("manifests/packaging/assemble", "#!/bin/sh\nmkdir \"$2\" && echo \"of $1\"\n");
  const auto said = checkout.dev({"release", GPUWARD_VERSION});
  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, HasSubstr("of build/release\n"));
  const std::string made = "build/dist/gpuward-" GPUWARD_VERSION;
  EXPECT_TRUE(std::filesystem::exists(checkout.path() / made));
  checkout.script("manifests/packaging/assemble", "#!/bin/sh\nmkdir \"$2\" && exit 1\n");
  EXPECT_NE(checkout.dev({"release", GPUWARD_VERSION}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(checkout.path() / made));
}

TEST(Dev, ReleasesNoOtherVersion) {
  const auto said = Checkout().dev({"release", "99.0.0"});
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.error_output, HasSubstr("This tree is version " GPUWARD_VERSION ", not 99.0.0"));
}

TEST(Dev, ReleasesOnlyWhatIsCommittedUnlessItIsTold) {
  const Checkout checkout;
  checkout.script("manifests/packaging/assemble", "#!/bin/sh\nmkdir \"$2\"\n");
  for (const char* how : {"", "--check"}) {
    std::vector<std::string> arguments{"release", how, GPUWARD_VERSION};
    std::erase(arguments, "");
    const auto said = checkout.dev(arguments, {{"CHANGED", " M core/a.cpp"}});
    EXPECT_EQ(said.exit_code, 2);
    EXPECT_THAT(said.error_output, HasSubstr("core/a.cpp"));
  }
  EXPECT_EQ(checkout.dev({"release", "--dirty", GPUWARD_VERSION}, {{"CHANGED", " M core/a.cpp"}})
                .exit_code,
            0);
}

TEST(Dev, DecidesByTheTierOfALandingWhetherAChangeLands) {
  const auto ci = read_file(std::filesystem::path(GPUWARD_SOURCE_DIR) / ".ci/run");
  ASSERT_TRUE(ci) << ci.error().message;
  EXPECT_THAT(*ci, HasSubstr("\nexec ./dev test --landing\n"));
}

TEST(Readme, SaysInItsFirstScreenWhatItIsForWhomAndTheTwoCommands) {
  const auto readme = read_file(std::filesystem::path(GPUWARD_SOURCE_DIR) / "README.md");
  ASSERT_TRUE(readme) << readme.error().message;
  const std::string screen = readme->substr(0, 1800);
  for (const char* word : {"GPU", "Kubernetes", "for the people", "\n./dev demo ", "\n./dev test ",
                           "After `./dev demo` you see"}) {
    EXPECT_THAT(screen, HasSubstr(word));
  }
}

}  // namespace
}  // namespace gpuward::dev
