#include "core/kube/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

constexpr std::size_t kMaxComplaintBytes = 300;
constexpr int kPollMilliseconds = 20;
constexpr int kReadsAtOnce = 64;

std::string reason_of(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
  static std::optional<Pipe> open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  }
};

// "NAME=value" of ours and on top of them the command's, in the form that posix_spawn wants.
class Strings {
 public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  char** data() {
    pointers_.clear();
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

Strings environment_of(const ChildCommand& command) {
  Strings all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (!command.environment.contains(std::string(entry.substr(0, entry.find('=')))))
      all.add(std::string(entry));
  }
  for (const auto& [name, value] : command.environment) all.add(name + "=" + value);
  return all;
}

Strings arguments_of(const ChildCommand& command) {
  Strings all;
  all.add(command.program);
  for (const std::string& argument : command.arguments) all.add(argument);
  return all;
}

// A group of its own, so that it can be ended with its children; signals as a fresh program expects
// them, because our threads block them.
class SpawnSettings {
 public:
  SpawnSettings(const Pipe& out, const Pipe& err) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err.write.get(), STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t ours;
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ours);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

class Child {
 public:
  Child(pid_t pid, Descriptor out, Descriptor err)
      : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  ~Child() {
    if (!reaped_) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Result<std::string> collect(const ChildCommand& command, Clock& clock) {
    const auto deadline = clock.steady() + command.timeout;
    while (out_.is_open() || err_.is_open() || !has_ended()) {
      if (clock.steady() >= deadline) {
        return fail(ErrorKind::kTimeout, command.program + " was killed: it had not ended after " +
                                             std::to_string(command.timeout.count() / 1000) + " s");
      }
      wait_for_output();
      const bool ended = has_ended();
      take(out_, output_, command.max_output_bytes + 1);
      take(err_, complaint_, kMaxComplaintBytes);
      if (output_.size() > command.max_output_bytes) {
        return fail(ErrorKind::kTooLarge, command.program + " was killed: it wrote more than " +
                                              std::to_string(command.max_output_bytes) + " bytes");
      }
      if (ended) break;  // what it left behind may hold the pipes open
    }
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return std::move(output_);
    return fail(ErrorKind::kUnavailable, command.program + " " + how_it_ended() + ": " +
                                             to_valid_utf8(trim(complaint_), kMaxComplaintBytes));
  }

 private:
  bool has_ended() {
    if (!reaped_) reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
    return reaped_;
  }

  void end() {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
  }

  void wait_for_output() const {
    std::array<pollfd, 2> wanted{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
    ::poll(wanted.data(), wanted.size(), kPollMilliseconds);  // closed ones are -1: passed over
  }

  // What is there now, a pipe's worth at least; what lies beyond the cap is dropped.
  static void take(Descriptor& from, std::string& into, std::size_t cap) {
    std::array<char, 4096> piece{};
    for (int reads = 0; reads < kReadsAtOnce && from.is_open(); ++reads) {
      const ssize_t size = ::read(from.get(), piece.data(), piece.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return;
      if (size <= 0) return from.close();
      into.append(piece.data(),
                  std::min(static_cast<std::size_t>(size), cap - std::min(cap, into.size())));
    }
  }

  [[nodiscard]] std::string how_it_ended() const {
    if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
    return "ended with " + std::to_string(WEXITSTATUS(status_));
  }

  pid_t pid_;
  Descriptor out_, err_;
  bool reaped_ = false;
  int status_ = 0;
  std::string output_, complaint_;
};

}  // namespace

Result<std::string> run_child(const ChildCommand& command, Clock& clock) {
  auto out = Pipe::open();
  auto err = Pipe::open();
  if (!out || !err)
    return fail(ErrorKind::kUnavailable,
                "no pipe for " + command.program + ": " + reason_of(errno));
  ::fcntl(out->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err->read.get(), F_SETFL, O_NONBLOCK);
  Strings arguments = arguments_of(command);
  Strings environment = environment_of(command);
  const SpawnSettings settings(*out, *err);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, command.program.c_str(), &settings.files,
                                   &settings.attributes, arguments.data(), environment.data());
  if (error != 0) {
    return fail(error == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
                "cannot start " + command.program + ": " + reason_of(error));
  }
  out->write.close();
  err->write.close();
  return Child(pid, std::move(out->read), std::move(err->read)).collect(command, clock);
}

}  // namespace gpuward::kube
