#include "exporter/commands/gpu_reset.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/model/gpu_reset_words.h"
#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/commands/gpu_users_command.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kEndedBySignal = 128;  // plus its number
// Between SIGTERM and SIGKILL; and before SIGTERM, so that a running reset can end.
constexpr seconds kResetStopsWithin{20}, kResetEndsWithin{30};
constexpr seconds kLookEvery{5};
constexpr int kMostLooks = 12;
constexpr seconds kUnitTakes{60};
// A reset that starts with less time would be ended too early.
constexpr seconds kLeastForReset{30};

std::string with_newline(std::string text) {
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

ChildCommand command_of(const std::string& program, std::vector<std::string> arguments,
                        milliseconds limit) {
  ChildCommand command;
  command.program = program;
  command.arguments = std::move(arguments);
  command.timeout = limit;
  command.grace = kResetStopsWithin;
  return command;
}

GpuReset run(const ChildCommand& command, Clock& clock) {
  if (command.timeout.count() <= 0)
    return {kFailed, command.program + " was not started: the time is over\n"};
  const auto result = run_child(command, clock);
  if (!result) {
    const bool is_missing = result.error().kind == ErrorKind::kNotFound;
    return {is_missing ? GpuReset::kNoSuchProgram : kFailed, result.error().message + "\n"};
  }
  const int code = result->exit_code < 0 ? kEndedBySignal + result->signal : result->exit_code;
  return {code, with_newline(result->output) + with_newline(result->complaint)};
}

// Runs in the root of the node's own systemd.
std::vector<std::string> systemctl(const HostPaths& host, const char* verb,
                                   const std::string& unit) {
  return {(host.proc / "1/root").string(), "systemctl", verb, "--quiet", "--", unit};
}

}  // namespace

GpuReset GpuResetTools::call(const std::string& program, std::vector<std::string> arguments,
                             milliseconds limit) const {
  ChildCommand command = command_of(program, std::move(arguments), std::min(limit, left()));
  command.stop = stop_;
  return run(command, clock_);
}

GpuReset GpuResetTools::call_reset(const std::string& program,
                                   std::vector<std::string> arguments) const {
  ChildCommand command = command_of(program, std::move(arguments), left());
  command.stop = stop_;
  command.patience = kResetEndsWithin;
  GpuReset reset = run(command, clock_);
  if (reset.exit_code == GpuReset::kNoSuchProgram) return reset;
  reset.ended = clock_.wall();
  if (reset.exit_code != kDone && stop_.stop_requested())
    reset.words += std::string(kStoppedWhile) + "\n";
  return reset;
}

GpuReset GpuResetTools::call_anyway(const std::string& program, std::vector<std::string> arguments,
                                    milliseconds limit) const {
  return run(command_of(program, std::move(arguments), limit), clock_);
}

milliseconds GpuResetTools::left() const {
  return std::chrono::ceil<milliseconds>(ends_ - clock_.steady());
}

std::optional<GpuReset> GpuResetTools::refusal(const GpuUse& use) const {
  if (!stop_.stop_requested() && left() >= kLeastForReset) return std::nullopt;
  const std::string users =
      use.kind == GpuUse::Kind::kSome ? std::string(kInUse) + ": " + use.words + "; " : "";
  return GpuReset{kFailed, users + std::string(kStoppedBefore) + "\n"};
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

// systemd also stops the units that require a stopped one, so check all before the first stop.
PausedUnits::PausedUnits(const GpuResetTools& tools, const std::vector<std::string>& units)
    : tools_(tools) {
  for (const std::string& unit : units) {
    const GpuReset look =
        tools.call("chroot", systemctl(tools.host(), "is-active", unit), kUnitTakes);
    if (look.exit_code == kDone) stopped_.push_back(unit);
  }
  for (const std::string& unit : stopped_) {
    const GpuReset stop = tools.call("chroot", systemctl(tools.host(), "stop", unit), kUnitTakes);
    if (stop.exit_code != kDone) words_ += "stopping " + unit + ": " + stop.words;
  }
}

std::string PausedUnits::start_again() {
  for (const std::string& unit : stopped_) {
    const GpuReset start =
        tools_.call_anyway("chroot", systemctl(tools_.host(), "start", unit), kUnitTakes);
    if (start.exit_code != kDone) words_ += "starting " + unit + ": " + start.words;
  }
  stopped_.clear();
  return words_;
}

}  // namespace gpuward::exporter
