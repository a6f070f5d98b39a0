#include "exporter/amd_health/socket_place.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter::amd_health {
namespace {

namespace fs = std::filesystem;

// A bound socket, which listens if `listens`.
class Bound {
 public:
  Bound(const fs::path& path, bool listens) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_TRUE(!listens || ::listen(socket_, 1) == 0);
  }
  ~Bound() { ::close(socket_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  int socket_;
};

// CONTRACTS C: the folder has mode 0755.
TEST(SocketPlace, MakesItsFolderForAllToEnter) {
  const support::TempDir folder;
  const fs::path socket = folder / "amd/health.socket";
  const mode_t before = ::umask(0077);
  ASSERT_TRUE(prepare_socket_place(socket));
  ::umask(before);
  struct stat about{};
  ASSERT_EQ(::stat(socket.parent_path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0755U);
}

// CONTRACTS C: a stale file is removed.
TEST(SocketPlace, RemovesASocketThatNobodyListensOn) {
  const support::TempDir folder;
  {
    const Bound gone(folder / "s", false);
  }
  ASSERT_TRUE(fs::exists(folder / "s"));
  ASSERT_TRUE(prepare_socket_place(folder / "s"));
  EXPECT_FALSE(fs::exists(folder / "s"));
}

TEST(SocketPlace, LeavesTheSocketOfSomebodyWhoListens) {
  const support::TempDir folder;
  const Bound alive(folder / "s", true);
  const auto refused = prepare_socket_place(folder / "s");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kAlreadyExists);
  EXPECT_TRUE(fs::exists(folder / "s"));
}

TEST(SocketPlace, LeavesWhatIsNoSocket) {
  const support::TempDir folder;
  const auto refused = prepare_socket_place(folder.write("s", "precious"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(fs::exists(folder / "s"));
}

TEST(SocketPlace, RefusesPathsThatCannotBeSockets) {
  EXPECT_FALSE(prepare_socket_place("relative.socket"));
  EXPECT_FALSE(prepare_socket_place("/tmp/" + std::string(200, 'x')));
}

}  // namespace
}  // namespace gpuward::exporter::amd_health
