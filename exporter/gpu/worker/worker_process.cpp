#include "exporter/gpu/worker/worker_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace gpuward::exporter {
namespace {

constexpr std::size_t kReadBytes = 64U << 10U;
constexpr int kFirstOther = 3;  // after stdin, stdout and stderr

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// Three pipes, closed on exec; the parent's ends never block.
class Pipes {
 public:
  ~Pipes() {
    for (auto& pair : pipes_) {
      for (int& descriptor : pair) close_if_open(descriptor);
    }
  }

  [[nodiscard]] bool open() {
    for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
      if (::pipe2(pipes_[stream].data(), O_CLOEXEC) != 0) return false;
      ::fcntl(pipes_[stream][our_end(stream)], F_SETFL, O_NONBLOCK);
    }
    return true;
  }
  [[nodiscard]] int theirs(std::size_t stream) const { return pipes_[stream][1 - our_end(stream)]; }
  [[nodiscard]] int take_ours(std::size_t stream) {
    return std::exchange(pipes_[stream][our_end(stream)], -1);
  }

 private:
  static std::size_t our_end(std::size_t stream) { return stream == 0 ? 1 : 0; }
  std::array<std::array<int, 2>, 3> pipes_{{{-1, -1}, {-1, -1}, {-1, -1}}};
};

// The actions of posix_spawn in the child, freed with the object.
struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void connect(const Pipes& pipes) {
    for (int stream = 0; stream < kFirstOther; ++stream) {
      ::posix_spawn_file_actions_adddup2(&actions, pipes.theirs(static_cast<std::size_t>(stream)),
                                         stream);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, kFirstOther);
  }
  void free_signals() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
};

std::unexpected<Error> cannot_start(const std::string& program, int error) {
  return fail(ErrorKind::kUnavailable,
              "starting the GPU worker " + program + ": " + std::strerror(error));
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::vector<std::string>& argv) {
  Pipes pipes;
  if (!pipes.open()) return cannot_start(argv.front(), errno);
  SpawnPlan plan;
  plan.connect(pipes);
  plan.free_signals();
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, pointers.front(), &plan.actions, &plan.attributes,
                                  pointers.data(), environ);
  if (error != 0) return cannot_start(argv.front(), error);
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(pid, pipes.take_ours(0), pipes.take_ours(1), pipes.take_ours(2)));
}

WorkerProcess::~WorkerProcess() {
  kill();
  (void)try_reap();
  close_input();
  close_if_open(output_);
  close_if_open(complaints_);
}

bool WorkerProcess::send(std::string_view request) const {
  return input_ >= 0 &&
         ::write(input_, request.data(), request.size()) == static_cast<ssize_t>(request.size());
}

std::string WorkerProcess::read(int& descriptor) {
  if (descriptor < 0) return {};
  std::array<char, kReadBytes> bytes;  // not cleared: usually few bytes arrive or none
  const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
  const bool is_nothing_there = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (got <= 0 && !is_nothing_there) close_if_open(descriptor);
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
}

void WorkerProcess::close_input() { close_if_open(input_); }

void WorkerProcess::kill() const {
  // A reaped pid may belong to another process by now.
  if (!status_) ::kill(-pid_, SIGKILL);
}

std::optional<int> WorkerProcess::try_reap() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

GpuProbe::GpuProbe(std::unique_ptr<WorkerProcess> process, GpuName gpu, Clock::Steady deadline)
    : process_(std::move(process)), gpu_(std::move(gpu)), deadline_(deadline) {
  (void)process_->send(kReadRequest);  // if it is not taken, no response comes
}

GpuProbe::Outcome GpuProbe::look(Clock::Steady now) {
  (void)process_->read_complaints();
  bool is_broken = false;
  messages_.feed(process_->read_output(), [&](std::string_view line) {
    const auto message = decode_message(line);
    is_broken |= !message;
    has_answered_ |= message && message->report;
  });
  if (has_answered_) return Outcome::kAnswered;
  is_broken |= messages_.has_overflowed() || process_->output() < 0;
  return is_broken || now >= deadline_ ? Outcome::kSilent : Outcome::kWaiting;
}

std::unique_ptr<Reapable> GpuProbe::end() {
  process_->kill();
  return std::move(process_);
}

Wakeup::Wakeup() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wakeup::~Wakeup() { ::close(descriptor_); }

void Wakeup::signal() const { ::eventfd_write(descriptor_, 1); }

void Wakeup::clear() const {
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
}

}  // namespace gpuward::exporter
