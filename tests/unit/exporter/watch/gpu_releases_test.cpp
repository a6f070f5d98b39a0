// The requests of programs that want the GPUs for themselves, as files in the state folder.
#include "exporter/watch/gpu_releases.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "core/runtime/files.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kBoot = "boot-1";

class GpuReleasesTest : public ::testing::Test {
 protected:
  GpuReleasesTest() { start(); }

  void start() {
    releases_ = std::make_unique<GpuReleases>(state_.path(), kBoot, store_, clock_, log_);
  }
  fs::path ask(std::chrono::milliseconds lasts = minutes(10), const std::string& boot = kBoot) {
    clock_.advance(seconds(1));
    const auto path = ReleaseRequests(state_.path())
                          .leave({"a Job", "a reset", boot, clock_.wall() + lasts}, clock_.wall());
    EXPECT_TRUE(path);
    return path.value_or(fs::path());
  }
  fs::path write(const std::string& text) {
    const fs::path path = ask();
    std::ofstream(path) << text;
    return path;
  }
  static std::string answer_to(const fs::path& path) {
    return read_file(RequestFolder::answer_to(path)).value_or("");
  }
  std::optional<GpuRelease> release() const { return store_.health().release; }

  support::TempDir state_;
  fakes::FakeClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  Store store_{State{}};
  std::unique_ptr<GpuReleases> releases_;
};

TEST_F(GpuReleasesTest, AreAnsweredOnceNothingIsHeld) {
  EXPECT_FALSE(releases_->tick());
  const fs::path path = ask();

  EXPECT_TRUE(releases_->tick());
  releases_->confirm(false);
  ASSERT_TRUE(release());
  EXPECT_FALSE(release()->is_released);
  EXPECT_EQ(release()->why, "a reset");
  EXPECT_EQ(answer_to(path), "");

  EXPECT_TRUE(releases_->tick());
  releases_->confirm(true);
  EXPECT_TRUE(release()->is_released);
  EXPECT_EQ(answer_to(path), GpuReleases::kReleased);
}

TEST_F(GpuReleasesTest, EndWhenTheirFileIsRemoved) {
  const fs::path path = ask();
  EXPECT_TRUE(releases_->tick());
  ReleaseRequests(state_.path()).remove(path);
  EXPECT_FALSE(releases_->tick());
  EXPECT_FALSE(release());
  EXPECT_FALSE(fs::exists(RequestFolder::answer_to(path)));
}

TEST_F(GpuReleasesTest, EndAfterTheirTimeWhateverBecameOfTheAsker) {
  const fs::path path = ask(minutes(10));
  EXPECT_TRUE(releases_->tick());
  releases_->confirm(true);
  clock_.advance(minutes(10) - seconds(1));
  EXPECT_TRUE(releases_->tick());
  clock_.advance(seconds(1));
  EXPECT_FALSE(releases_->tick());
  EXPECT_FALSE(release());
  EXPECT_FALSE(fs::exists(path));
}

// Their program counts by that clock too.
TEST_F(GpuReleasesTest, LastTheirTimeWhateverTheWallClockDoes) {
  for (const auto jump : {std::chrono::hours(24), -std::chrono::hours(24)}) {
    const fs::path path = ask(minutes(10));
    EXPECT_TRUE(releases_->tick());
    clock_.jump_wall(jump);
    EXPECT_TRUE(releases_->tick());
    clock_.advance(minutes(10) - seconds(1));
    EXPECT_TRUE(releases_->tick());
    clock_.advance(seconds(1));
    EXPECT_FALSE(releases_->tick());
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(answer_to(path), "") << "its owner has got what it asked for";
  }
}

TEST_F(GpuReleasesTest, LastAsLongAsOneAsksForThem) {
  const fs::path one = ask(minutes(5));
  const fs::path other = ask(minutes(20));
  EXPECT_TRUE(releases_->tick());
  releases_->confirm(true);
  EXPECT_EQ(answer_to(one), GpuReleases::kReleased);
  EXPECT_EQ(answer_to(other), GpuReleases::kReleased);
  ReleaseRequests(state_.path()).remove(one);
  EXPECT_TRUE(releases_->tick());
  ReleaseRequests(state_.path()).remove(other);
  EXPECT_FALSE(releases_->tick());
}

TEST_F(GpuReleasesTest, OutliveARestartOfTheExporter) {
  const fs::path path = ask();
  EXPECT_TRUE(releases_->tick());
  start();
  ASSERT_TRUE(release()) << "before the first worker is started";
  clock_.advance(minutes(10));
  EXPECT_FALSE(releases_->tick());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(GpuReleasesTest, OfAnotherBootAreRefused) {
  const fs::path path = ask(minutes(10), "boot-0");
  EXPECT_FALSE(releases_->tick());
  EXPECT_EQ(answer_to(path), "it is of another boot");
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(GpuReleasesTest, ThatAskForTooLongOrForThePastAreRefused) {
  const fs::path long_one = ask(std::chrono::hours(2));
  const fs::path past = ask(seconds(-1));
  EXPECT_FALSE(releases_->tick());
  EXPECT_THAT(answer_to(long_one), HasSubstr("more than 30 minutes"));
  EXPECT_EQ(answer_to(past), "its time is over");
}

TEST_F(GpuReleasesTest, ThatAreNoRequestAreRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"until": "tomorrow"})"),
        std::string(5000, ' ')}) {
    const fs::path path = write(text);
    EXPECT_FALSE(releases_->tick()) << text;
    EXPECT_FALSE(fs::exists(path)) << text;
    EXPECT_NE(answer_to(path), "") << text;
  }
}

TEST_F(GpuReleasesTest, FollowNoLinkAndReadNoDevice) {
  const fs::path path = ask();
  const fs::path elsewhere = state_ / "elsewhere";
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  EXPECT_FALSE(releases_->tick());
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(path)));
  EXPECT_TRUE(fs::exists(elsewhere)) << "the link was removed and not what it leads to";

  fs::create_directory(path);
  EXPECT_FALSE(releases_->tick());
}

TEST_F(GpuReleasesTest, OfAnotherUserAreRefused) {
  const fs::path path = ask();
  if (::geteuid() != 0 || ::chown(path.c_str(), 65534, 65534) != 0)
    GTEST_SKIP() << "only root can give a file away";
  EXPECT_FALSE(releases_->tick());
  EXPECT_EQ(answer_to(path), "belongs to uid 65534");
}

TEST_F(GpuReleasesTest, LastAsLongAsALabelOfTheNodeAsksForThem) {
  const std::string label = "nvidia.com/gpu.deploy.dcgm-exporter=paused-for-driver-upgrade";
  EXPECT_TRUE(releases_->tick(label));
  releases_->confirm(false);
  ASSERT_TRUE(release());
  EXPECT_FALSE(release()->is_released);
  EXPECT_EQ(release()->why, label);
  EXPECT_EQ(release()->until, std::nullopt);

  releases_->confirm(true);
  EXPECT_TRUE(releases_->tick("another=label"));
  releases_->confirm(true);
  EXPECT_TRUE(release()->is_released);
  EXPECT_EQ(release()->why, "another=label");

  EXPECT_FALSE(releases_->tick());
  EXPECT_FALSE(release());
}

TEST_F(GpuReleasesTest, LastWhileALabelOrARequestAsksForThem) {
  const fs::path path = ask();
  EXPECT_TRUE(releases_->tick("a=label"));
  releases_->confirm(true);
  EXPECT_EQ(answer_to(path), GpuReleases::kReleased);
  EXPECT_TRUE(releases_->tick());
  EXPECT_EQ(release()->why, "a reset");
  EXPECT_TRUE(release()->is_released);
  EXPECT_TRUE(releases_->tick("a=label"));
  ReleaseRequests(state_.path()).remove(path);
  EXPECT_TRUE(releases_->tick("a=label"));
  EXPECT_FALSE(releases_->tick());
}

// Taking the GPUs would break the upgrade.
TEST_F(GpuReleasesTest, LastBeyondTheLongestTimeOfALabelAndSayItOnce) {
  EXPECT_TRUE(releases_->tick("a=label"));
  clock_.advance(GpuReleases::kLongestLabel - seconds(1));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(releases_->tick("a=label"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  for (int ticks = 0; ticks < 3; ++ticks) {
    clock_.advance(seconds(1));
    EXPECT_TRUE(releases_->tick("b=label"));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("GPUs still released"));
  EXPECT_THAT(log, HasSubstr("b=label"));
  EXPECT_EQ(log.find("GPUs still"), log.rfind("GPUs still")) << log;
  EXPECT_TRUE(release());
}

// This happens on a disk that is full.
TEST_F(GpuReleasesTest, AreAnsweredLaterIfTheAnswerCannotBeWritten) {
  const fs::path path = ask();
  fs::create_directories(RequestFolder::answer_to(path) / "x");
  EXPECT_TRUE(releases_->tick());
  releases_->confirm(true);
  EXPECT_TRUE(release()->is_released);
  fs::remove_all(RequestFolder::answer_to(path));
  EXPECT_TRUE(releases_->tick());
  releases_->confirm(true);
  EXPECT_EQ(answer_to(path), GpuReleases::kReleased);
}

TEST_F(GpuReleasesTest, LeaveNoAnswersOfRequestsThatAreGone) {
  const fs::path path = ask(minutes(10), "boot-0");
  EXPECT_FALSE(releases_->tick());
  ASSERT_NE(answer_to(path), "");
  start();
  EXPECT_EQ(answer_to(path), "");
}

}  // namespace
}  // namespace gpuward::exporter
