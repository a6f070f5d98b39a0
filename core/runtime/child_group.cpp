#include "core/runtime/child_group.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

namespace fs = std::filesystem;

// The longest wait after SIGKILL. A process in an uninterruptible call (a hung driver) does not
// end.
constexpr std::chrono::seconds kKillWait{5};
// A search of /proc is expensive on a node with thousands of processes.
constexpr int kPausesBetweenLooks = 5;

// By its number: glibc 2.36 declares pidfd_open() without extern "C".
int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// proc(5): `pid (comm) state ppid pgrp ...`; comm may contain any character, parentheses too.
bool runs_in_group(std::string_view stat, pid_t group) {
  const auto close = stat.rfind(") ");
  if (close == std::string_view::npos) return false;
  stat.remove_prefix(close + 2);
  const bool is_dead = stat.starts_with('Z') || stat.starts_with('X');
  for (int word = 0; word < 2; ++word) {
    const auto blank = stat.find(' ');
    if (blank == std::string_view::npos) return false;
    stat.remove_prefix(blank + 1);
  }
  return !is_dead && parse_integer<pid_t>(stat.substr(0, stat.find(' '))) == group;
}

}  // namespace

ChildGroup::ChildGroup(pid_t leader, Clock& clock, std::function<void()> pause)
    : leader_(leader), descriptor_(open_pidfd(leader)), clock_(clock), pause_(std::move(pause)) {}

ChildGroup::~ChildGroup() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ChildGroup::leader_has_ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == leader_;
}

// kill(-leader, 0) cannot tell: it counts dead members until they are reaped. If /proc cannot be
// read, there may be running ones.
bool ChildGroup::has_running_members() const {
  std::error_code failed;
  for (fs::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!parse_integer<pid_t>(at->path().filename().string())) continue;
    const auto stat = read_file(at->path() / "stat", 4096);
    if (stat && runs_in_group(*stat, leader_)) return true;
  }
  return static_cast<bool>(failed);
}

// True if no member runs any more. Orphaned members are reaped by init at any time, or by this
// program if it is the first of its container.
bool ChildGroup::reap() {
  if (!reaped_) reaped_ = ::waitpid(leader_, &status_, WNOHANG) == leader_;
  if (!reaped_) return false;
  while (::waitpid(-leader_, nullptr, WNOHANG) > 0) {
  }
  return (::kill(-leader_, 0) != 0 && errno == ESRCH) || !has_running_members();
}

bool ChildGroup::end(std::chrono::milliseconds grace) {
  if (grace.count() > 0) {
    ::kill(-leader_, SIGTERM);
    const auto deadline = clock_.steady() + grace;
    for (int pauses = 0; clock_.steady() < deadline; ++pauses) {
      const bool looks = pauses % kPausesBetweenLooks == 0;
      if (looks && leader_has_ended() && !has_running_members()) break;
      pause_();
    }
  }
  ::kill(-leader_, SIGKILL);
  const auto deadline = clock_.steady() + kKillWait;
  while (!reap()) {
    if (clock_.steady() >= deadline) return false;
    pause_();
  }
  return true;
}

}  // namespace gpuward
