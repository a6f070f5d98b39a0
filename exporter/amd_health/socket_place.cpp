#include "exporter/amd_health/socket_place.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace gpuward::exporter::amd_health {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> system_failure(const std::string& attempted, const fs::path& path,
                                      int code) {
  const bool is_forbidden = code == EACCES || code == EPERM || code == EROFS;
  return fail(is_forbidden ? ErrorKind::kForbidden : ErrorKind::kUnavailable,
              attempted + " " + path.string() + ": " + std::generic_category().message(code));
}

// Returns 0 if a process listens, else the reason why not.
int try_connect(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return errno;
  const int failed =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0
                                                                                         : errno;
  ::close(probe);
  // A full queue belongs to a listener.
  return failed == EAGAIN ? 0 : failed;
}

Status remove_stale(const fs::path& socket, const sockaddr_un& address) {
  struct stat about{};
  if (::lstat(socket.c_str(), &about) != 0) {
    return errno == ENOENT ? Status() : system_failure("cannot look at", socket, errno);
  }
  if (!S_ISSOCK(about.st_mode)) {
    return fail(ErrorKind::kInvalid, socket.string() + " exists and is not a socket");
  }
  const int failed = try_connect(address);
  if (failed == 0) {
    return fail(ErrorKind::kAlreadyExists, "another process is listening on " + socket.string());
  }
  if (failed != ECONNREFUSED && failed != ENOENT) {
    return system_failure("cannot determine which process is listening on", socket, failed);
  }
  if (::unlink(socket.c_str()) != 0 && errno != ENOENT) {
    return system_failure("cannot remove the stale socket", socket, errno);
  }
  return {};
}

}  // namespace

Status prepare_socket_place(const fs::path& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (!socket.is_absolute() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorKind::kInvalid,
                path + " is not a valid socket path: use an absolute path of at most " +
                    std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  std::error_code failed;
  const fs::path folder = socket.parent_path();
  if (fs::create_directories(folder, failed)) ::chmod(folder.c_str(), 0755);
  if (failed) return system_failure("cannot make", folder, failed.value());
  return remove_stale(socket, address);
}

}  // namespace gpuward::exporter::amd_health
