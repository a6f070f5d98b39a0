#include "core/runtime/child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "core/runtime/child_group.h"
#include "core/runtime/child_spawn.h"

namespace gpuward {
namespace {

constexpr std::size_t kMaxComplaintBytes = 4096;
// The longest delay until a stop or a deadline is noticed.
constexpr int kPollMilliseconds = 20;
// Reads without a check in between: 1 MiB, the most that a pipe holds (/proc/sys/fs/pipe-max-size).
constexpr int kReadsAtOnce = 256;

enum class ChildState : std::uint8_t { kRuns, kEnded, kTimeout, kTooLarge, kCancelled };

class Child {
 public:
  Child(SpawnedChild spawned, const ChildCommand& command, Clock& clock, Clock::Steady deadline)
      : command_(command),
        clock_(clock),
        deadline_(deadline),
        output_(std::move(spawned.output)),
        complaint_(std::move(spawned.complaint)),
        group_(spawned.pid, clock, [this] { wait_and_take(); }) {}

  Result<ChildResult> collect() {
    ChildState verdict = look();
    while (verdict == ChildState::kRuns) {
      wait_and_take();
      verdict = look();
    }
    const bool gone =
        group_.end(verdict == ChildState::kEnded ? std::chrono::milliseconds{0} : command_.grace);
    take_all();
    if (verdict == ChildState::kEnded && is_flooded()) verdict = ChildState::kTooLarge;
    if (verdict != ChildState::kEnded) return killed(verdict, gone);
    if (WIFSIGNALED(group_.status())) result_.signal = WTERMSIG(group_.status());
    if (WIFEXITED(group_.status())) result_.exit_code = WEXITSTATUS(group_.status());
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_flooded() const {
    return result_.output.size() > command_.max_output_bytes;
  }

  [[nodiscard]] ChildState look() {
    if (is_flooded()) return ChildState::kTooLarge;
    if (group_.leader_has_ended()) return ChildState::kEnded;
    if (command_.stop.stop_requested()) {
      if (!stopped_at_) stopped_at_ = clock_.steady();
      if (clock_.steady() >= *stopped_at_ + command_.patience) return ChildState::kCancelled;
    }
    return clock_.steady() >= deadline_ ? ChildState::kTimeout : ChildState::kRuns;
  }

  void wait_and_take() {
    // poll() ignores a descriptor of -1.
    std::array<pollfd, 3> wanted{pollfd{output_.number(), POLLIN, 0},
                                 pollfd{complaint_.number(), POLLIN, 0},
                                 pollfd{group_.descriptor(), POLLIN, 0}};
    const bool ended = group_.leader_has_ended();  // its descriptor would end each poll at once
    ::poll(wanted.data(), ended ? 2 : 3, kPollMilliseconds);
    take_all();
  }

  void take_all() {
    take(output_, result_.output, command_.max_output_bytes + 1);
    take(complaint_, result_.complaint, kMaxComplaintBytes);
  }

  // Reads the available bytes; those beyond the cap are dropped.
  static void take(ChildPipe& from, std::string& into, std::size_t cap) {
    std::array<char, 4096> piece{};
    for (int reads = 0; reads < kReadsAtOnce && from.is_open(); ++reads) {
      const ssize_t size = ::read(from.number(), piece.data(), piece.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return;
      if (size <= 0) return from.close();
      into.append(piece.data(),
                  std::min(static_cast<std::size_t>(size), cap - std::min(cap, into.size())));
    }
  }

  [[nodiscard]] std::unexpected<Error> killed(ChildState verdict, bool gone) const {
    Error error{ErrorKind::kTimeout,
                "timed out after " + std::to_string(command_.timeout.count()) + " ms",
                {}};
    if (verdict == ChildState::kCancelled)
      error = {ErrorKind::kCancelled, "a stop was requested", {}};
    if (verdict == ChildState::kTooLarge) {
      error = {ErrorKind::kTooLarge,
               "it wrote more than " + std::to_string(command_.max_output_bytes) + " bytes",
               {}};
    }
    if (!gone)
      error.message += "; at least one of its processes is stuck in the kernel and still exists";
    return with_context(command_.program + " was killed", std::move(error));
  }

  const ChildCommand& command_;
  Clock& clock_;
  Clock::Steady deadline_;
  ChildPipe output_, complaint_;
  ChildResult result_;
  std::optional<Clock::Steady> stopped_at_;
  ChildGroup group_;
};

}  // namespace

Result<ChildResult> run_child(const ChildCommand& command, Clock& clock) {
  if (command.stop.stop_requested())
    return fail(ErrorKind::kCancelled, command.program + " was not started: a stop was requested");
  const auto program = find_program(command.program, command.search);
  if (!program) return std::unexpected(program.error());
  const auto deadline = clock.steady() + command.timeout;
  auto spawned = spawn_child(*program, command);
  if (!spawned) return std::unexpected(spawned.error());
  return Child(std::move(*spawned), command, clock, deadline).collect();
}

std::string how_it_ended(const ChildResult& result) {
  if (result.exit_code < 0) return "was terminated by signal " + std::to_string(result.signal);
  return "ended with " + std::to_string(result.exit_code);
}

}  // namespace gpuward
