// Uploads to real servers in this process. core/aws/s3_test.cpp covers S3.
#include "core/upload/upload.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/runtime/files.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

class UploadTest : public ::testing::Test {
 protected:
  Status take_to(const std::string& text, milliseconds timeout = support::kGenerousRequest) {
    const auto target = parse_upload_target(text);
    if (!target) return std::unexpected(target.error());
    return upload(below(*target, "a.tar.gz"), std::string("\x1f\0b", 3), timeout,
                  {.http = http_, .aws = aws_, .clock = clock_, .stop = stop_.get_token()});
  }
  http::Route answering(const http::Handler& handler) {
    return {"/gpu/", {"PUT"}, handler, http::Access::kOpen, http::Match::kPrefix};
  }
  std::stop_source stop_;
  SystemClock clock_;
  http::CurlClient http_;
  aws::AwsClient aws_{http_, {}, clock_};
};

TEST_F(UploadTest, PutsToAUrl) {
  http::Request seen;
  const http::TestServer server({answering([&](const http::Request& request) {
    seen = request;
    return http::Response::text(201, "");
  })});
  const auto done = take_to(server.url("/gpu"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.path, "/gpu/a.tar.gz");
  EXPECT_EQ(seen.body, std::string("\x1f\0b", 3));
}

TEST_F(UploadTest, FollowsNoRedirectAndRepeatsNoAnswer) {
  for (const int status : {307, 403, 500}) {
    const http::TestServer server({answering([&](const http::Request&) {
      http::Response response = http::Response::text(status, "very-secret");
      response.headers.emplace_back("Location", "http://very-secret.example/");
      return response;
    })});
    const auto done = take_to(server.url("/gpu/"));
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("HTTP " + std::to_string(status)));
    EXPECT_THAT(done.error().message, Not(HasSubstr("very-secret")));
  }
}

TEST_F(UploadTest, AHangingServerCostsTheTimeOutAndNoMore) {
  std::atomic<bool> over{false};
  const http::TestServer server({answering([&](const http::Request&) {
    static_cast<void>(support::poll_until([&] { return over.load(); }));
    return http::Response::text(200, "");
  })});
  const auto begun = clock_.steady();
  const auto done = take_to(server.url("/gpu/"), milliseconds(300));
  const auto took = clock_.steady() - begun;
  over = true;
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  EXPECT_LT(took, support::kGenerousRequest);
}

TEST_F(UploadTest, EndsAtAStopIfTheServerHangs) {
  std::atomic<bool> over{false};
  const http::TestServer server({answering([&](const http::Request&) {
    stop_.request_stop();
    static_cast<void>(support::poll_until([&] { return over.load(); }));
    return http::Response::text(200, "");
  })});
  const auto begun = clock_.steady();
  const auto done = take_to(server.url("/gpu/"), 2 * support::kGenerous);
  const auto took = clock_.steady() - begun;
  over = true;
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kCancelled);
  EXPECT_LT(took, support::kGenerousRequest);
}

TEST_F(UploadTest, CopiesIntoAFolder) {
  const support::TempDir folder;
  const auto done = take_to(folder.path().string());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(read_file(folder / "a.tar.gz").value_or(""), std::string("\x1f\0b", 3));
  struct stat about{};
  ASSERT_EQ(::stat((folder / "a.tar.gz").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(UploadTest, SaysWhyAFolderIsNone) {
  const support::TempDir folder;
  const auto done = take_to((folder / "not mounted here").string());
  EXPECT_FALSE(done);
  const auto missing = take_to((folder / "away").string());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("away"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// A process that opens this file hangs, as on a network file system that has gone.
TEST_F(UploadTest, AHangingFolderCostsTheTimeOutAndNoMore) {
  const support::TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "a.tar.gz.partial").c_str(), 0600), 0);
  const auto begun = clock_.steady();
  const auto done = take_to(folder.path().string(), milliseconds(300));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  EXPECT_LT(clock_.steady() - begun, support::kGenerous);
}

TEST_F(UploadTest, EndsAtAStopIfTheFolderHangs) {
  const support::TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "a.tar.gz.partial").c_str(), 0600), 0);
  stop_.request_stop();
  const auto begun = clock_.steady();
  EXPECT_FALSE(take_to(folder.path().string(), 2 * support::kGenerous));
  EXPECT_LT(clock_.steady() - begun, support::kGenerous);
}

}  // namespace
}  // namespace gpuward
