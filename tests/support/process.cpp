#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "tests/support/child_output.h"

namespace gpuward::support {
namespace {

using Pipe = std::array<int, 2>;  // read end, write end

// Everything that the child needs between fork and exec, prepared before: only async-signal-safe
// calls are allowed there, since other threads of this process may hold locks.
struct ExecPlan {
  explicit ExecPlan(const ProcessOptions& options)
      : program(find_program(options.argv.empty() ? "" : options.argv[0])),
        directory(options.working_directory),
        arguments(options.argv) {
    std::map<std::string, std::string> merged = options.env;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const auto equals = text.find('=');
      if (equals != std::string::npos)
        merged.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    for (const auto& [name, value] : merged) environment.push_back(name + "=" + value);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    for (std::string& variable : environment) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }
  std::string program, directory;
  std::vector<std::string> arguments, environment;
  std::vector<char*> argv, envp;
};

[[noreturn]] void become(const ExecPlan& plan, pid_t parent, const std::array<int, 3>& streams) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  for (int target = 0; target < 3; ++target)
    ::dup2(streams[static_cast<std::size_t>(target)], target);
  if (!plan.directory.empty() && ::chdir(plan.directory.c_str()) != 0) ::_exit(127);
  ::execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
  ::_exit(127);
}

int exit_code_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

}  // namespace

class Process::Impl {
 public:
  Impl(pid_t pid, std::array<int, 3> ours, const ProcessOptions& options)
      : pid_(pid),
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        output_(ours, options.input, options.max_output_bytes) {}

  ~Impl() {
    // Reaps the leader last, so that its number cannot belong to another group here.
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(pidfd_);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::optional<int> wait_exit(std::chrono::milliseconds limit) const {
    const Deadline deadline(limit);
    pollfd polled{pidfd_, POLLIN, 0};
    while (::poll(&polled, 1, static_cast<int>(deadline.left().count())) < 0 && errno == EINTR) {
    }
    siginfo_t info{};
    const int flags = WEXITED | WNOHANG | WNOWAIT;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, flags) != 0 || info.si_pid == 0) {
      deadline.fail();
      return std::nullopt;
    }
    if (limit.count() > 0) output_.wait_for_end();
    return exit_code_of(info);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string text(std::size_t stream) const {
    if (wait_exit(std::chrono::milliseconds(0))) output_.wait_until_read();
    return output_.text(stream);
  }

 private:
  pid_t pid_;
  int pidfd_;
  ChildOutput output_;
};

Result<std::unique_ptr<Process>> Process::spawn(ProcessOptions options) {
  const ExecPlan plan(options);
  if (plan.program.empty()) {
    return fail(ErrorKind::kNotFound, "cannot run " +
                                          (options.argv.empty() ? "(nothing)" : options.argv[0]) +
                                          ": no such program on PATH");
  }
  std::array<Pipe, 3> pipes{};
  for (Pipe& pipe : pipes) {
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
      return fail(ErrorKind::kInternal, std::string("pipe: ") + std::strerror(errno));
    }
  }
  const std::array<int, 3> theirs{pipes[0][0], pipes[1][1], pipes[2][1]};
  const std::array<int, 3> ours{pipes[0][1], pipes[1][0], pipes[2][0]};
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(plan, parent, theirs);
  for (const int descriptor : theirs) ::close(descriptor);
  if (pid < 0) {
    for (const int descriptor : ours) ::close(descriptor);
    return fail(ErrorKind::kInternal, std::string("fork: ") + std::strerror(errno));
  }
  ::setpgid(pid, pid);
  return std::unique_ptr<Process>(new Process(std::make_unique<Impl>(pid, ours, options)));
}

Result<Process::Outcome> Process::run(ProcessOptions options, std::chrono::milliseconds limit) {
  const std::string name = options.argv.empty() ? "" : options.argv[0];
  auto process = spawn(std::move(options));
  if (!process) return std::unexpected(process.error());
  const auto code = (*process)->wait_exit(limit);
  if (!code) {
    return fail(ErrorKind::kTimeout, name + " still runs after " + std::to_string(limit.count()) +
                                         " ms; it wrote: " + (*process)->output() +
                                         (*process)->error_output());
  }
  return Outcome{*code, (*process)->output(), (*process)->error_output()};
}

Process::Process(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Process::~Process() = default;

pid_t Process::pid() const { return impl_->pid(); }
bool Process::running() const { return !impl_->wait_exit(std::chrono::milliseconds(0)); }
void Process::signal(int number) const { ::kill(impl_->pid(), number); }

std::optional<int> Process::wait_exit(std::chrono::milliseconds limit) const {
  return impl_->wait_exit(limit);
}

int Process::stop(std::chrono::milliseconds grace) {
  signal(SIGTERM);
  if (const auto code = wait_exit(grace)) return *code;
  signal(SIGKILL);
  return wait_exit().value_or(128 + SIGKILL);
}

std::string Process::output() const { return impl_->text(1); }
std::string Process::error_output() const { return impl_->text(2); }

std::filesystem::path find_program(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? std::filesystem::path(name)
                                             : std::filesystem::path();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto candidate = std::filesystem::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace gpuward::support
