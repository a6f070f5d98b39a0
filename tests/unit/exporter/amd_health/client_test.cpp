#include "exporter/amd_health/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter::amd_health {
namespace {

using testing::HasSubstr;

// Accepts connections and never sends anything.
class SilentSocket {
 public:
  explicit SilentSocket(const std::filesystem::path& path)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const auto* const place = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, place, sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
  }
  ~SilentSocket() { ::close(listener_); }
  SilentSocket(const SilentSocket&) = delete;
  SilentSocket& operator=(const SilentSocket&) = delete;

 private:
  int listener_;
};

TEST(AmdHealthClient, WaitsForNobodyForLong) {
  const support::TempDir folder;
  const SilentSocket socket(folder / "health.socket");
  const Client client(folder / "health.socket", std::chrono::milliseconds(200));

  const auto gpus = client.list();

  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(gpus.error().message, HasSubstr((folder / "health.socket").string()));
}

TEST(AmdHealthClient, SaysThatASocketIsLeftBehind) {
  const support::TempDir folder;
  {
    const SilentSocket socket(folder / "health.socket");
  }

  const auto done = Client(folder / "health.socket").set_error("0", {{"GPU_ECC_UNCORRECT_UMC", 1}});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace gpuward::exporter::amd_health
