#include "core/runtime/child_spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>

namespace gpuward {
namespace {

struct Pipe {
  ChildPipe read, write;
  static std::optional<Pipe> open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return Pipe{ChildPipe(ends[0]), ChildPipe(ends[1])};
  }
};

// Texts in the form that posix_spawn needs.
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

// This process's "NAME=value" entries, with the command's on top.
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

Strings arguments_of(const std::filesystem::path& program, const ChildCommand& command) {
  Strings all;
  all.add(program.string());
  for (const std::string& argument : command.arguments) all.add(argument);
  return all;
}

// A process group, so that it can be ended with its children; default signals, because gpuward's
// threads block them.
class SpawnSettings {
 public:
  SpawnSettings(const ChildPipe& in, const Pipe& out, const Pipe& err) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.number(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.write.number(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err.write.number(), STDERR_FILENO);
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

// A file in memory, so that a child that does not read its stdin cannot block the writer.
std::optional<ChildPipe> open_input(const std::string& input) {
  if (input.empty()) {
    ChildPipe null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return null.is_open() ? std::optional(std::move(null)) : std::nullopt;
  }
  ChildPipe file(::memfd_create("gpuward-input", MFD_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  for (std::string_view rest = input; !rest.empty();) {
    const ssize_t written = ::write(file.number(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.number(), 0, SEEK_SET) != 0) return std::nullopt;
  return file;
}

std::unexpected<Error> cannot_start(const ChildCommand& command, int error) {
  const bool missing = error == ENOENT;
  return fail(missing ? ErrorKind::kNotFound : ErrorKind::kUnavailable,
              "cannot start " + command.program + ": " + std::generic_category().message(error) +
                  (missing ? " (the program or the interpreter in its #! line is missing)" : ""));
}

}  // namespace

void ChildPipe::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                 const ChildCommand& command) {
  auto out = Pipe::open();
  auto err = Pipe::open();
  const auto in = open_input(command.input);
  if (!out || !err || !in) return cannot_start(command, errno);
  Strings arguments = arguments_of(program, command);
  Strings environment = environment_of(command);
  const SpawnSettings settings(*in, *out, *err);
  SpawnedChild child;
  const int error = ::posix_spawn(&child.pid, program.c_str(), &settings.files,
                                  &settings.attributes, arguments.data(), environment.data());
  if (error != 0) return cannot_start(command, error);
  child.output = std::move(out->read);
  child.complaint = std::move(err->read);
  return child;
}

}  // namespace gpuward
