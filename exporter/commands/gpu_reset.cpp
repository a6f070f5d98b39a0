#include "exporter/commands/gpu_reset.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/commands/gpu_users_command.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kEndedBySignal = 128;  // plus its number
// Between SIGTERM and SIGKILL: a reset that has begun should end.
constexpr seconds kResetStopsWithin{20};
constexpr seconds kLookEvery{5};
constexpr int kMostLooks = 12;
constexpr seconds kUnitTakes{60};

std::string with_newline(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

GpuReset run(const std::string& program, std::vector<std::string> arguments, milliseconds limit,
             const std::stop_token& stop, Clock& clock) {
  if (limit.count() <= 0) return {kFailed, program + " was not started: the time is over\n"};
  ChildCommand command;
  command.program = program;
  command.arguments = std::move(arguments);
  command.timeout = limit;
  command.grace = kResetStopsWithin;
  command.stop = stop;
  const auto result = run_child(command, clock);
  if (!result) {
    const bool is_missing = result.error().kind == ErrorKind::kNotFound;
    return {is_missing ? GpuReset::kNoSuchProgram : kFailed, result.error().message + "\n"};
  }
  const int code = result->exit_code < 0 ? kEndedBySignal + result->signal : result->exit_code;
  return {code, with_newline(result->output) + with_newline(result->complaint)};
}

// In the root of the node's own systemd.
std::vector<std::string> systemctl(const HostPaths& host, const char* verb,
                                   const std::string& unit) {
  return {(host.proc / "1/root").string(), "systemctl", verb, "--quiet", "--", unit};
}

}  // namespace

GpuReset GpuResetTools::call(const std::string& program, std::vector<std::string> arguments,
                             milliseconds limit) const {
  const auto left = std::chrono::ceil<milliseconds>(ends_ - clock_.steady());
  return run(program, std::move(arguments), std::min(limit, left), stop_, clock_);
}

GpuReset GpuResetTools::call(const std::string& program, std::vector<std::string> arguments) const {
  return call(program, std::move(arguments), milliseconds::max());
}

GpuReset GpuResetTools::call_anyway(const std::string& program, std::vector<std::string> arguments,
                                    milliseconds limit) const {
  return run(program, std::move(arguments), limit, {}, clock_);
}

GpuUse GpuResetTools::wait_until_unused() const {
  for (int look = 1;; ++look) {
    std::ostringstream words;
    const int code = run_gpu_users(host_, GpuUsersWish::kRequireNone, words);
    const auto kind = code == kDone           ? GpuUse::Kind::kNone
                      : code == kCouldNotTell ? GpuUse::Kind::kCannotTell
                                              : GpuUse::Kind::kSome;
    if (kind != GpuUse::Kind::kSome || look == kMostLooks || !pause())
      return {kind, std::string(trim(words.str()))};
  }
}

bool GpuResetTools::pause() const {
  const auto until = std::min(clock_.steady() + kLookEvery, ends_);
  return clock_.sleep_until(until, stop_) && clock_.steady() < ends_;
}

std::string GpuResetTools::users() const {
  std::ostringstream words;
  static_cast<void>(run_gpu_users(host_, GpuUsersWish::kSay, words));
  return words.str();
}

PausedUnits::PausedUnits(const GpuResetTools& tools, const std::vector<std::string>& units)
    : tools_(tools) {
  for (const std::string& unit : units) {
    if (tools.call("chroot", systemctl(tools.host(), "is-active", unit), kUnitTakes).exit_code != 0)
      continue;
    stopped_.push_back(unit);  // also if systemctl does not end in time
    const GpuReset stop = tools.call("chroot", systemctl(tools.host(), "stop", unit), kUnitTakes);
    if (stop.exit_code != kDone) words_ += "stopping " + unit + ": " + stop.words;
  }
}

PausedUnits::~PausedUnits() {
  for (const std::string& unit : stopped_)
    static_cast<void>(
        tools_.call_anyway("chroot", systemctl(tools_.host(), "start", unit), kUnitTakes));
}

}  // namespace gpuward::exporter
