#include "exporter/commands/gpu_release_command.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <memory>
#include <system_error>
#include <vector>

#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/host/boot.h"
#include "exporter/host/gpu_lock.h"
#include "exporter/store/release_requests.h"
#include "exporter/watch/gpu_releases.h"

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;

constexpr std::array kGpuReleaseExamples = {
    Example{"gpu-release",
            "gpuward-exporter gpu-release -- nvidia-smi --gpu-reset -i 3\n"
            "gpuward-exporter gpu-release --for 20m --why 'firmware update'"}};
constexpr seconds kShortestRelease{10};
// The exporter checks for requests once a second, and its worker ends within half a second.
constexpr std::chrono::milliseconds kExporterReleasesWithin{5'000};
// Between SIGTERM and SIGKILL, if the time is over or this command is stopped.
constexpr seconds kProgramStopsWithin{5};

struct CommandWish {
  ReleaseWish release;
  std::vector<std::string> program;  // with its arguments; empty: waits until its time is over
};

std::string reason_of(const CommandWish& wish) {
  if (!wish.release.why.empty()) return wish.release.why;
  std::string words;
  for (const std::string& word : wish.program) words += (words.empty() ? "" : " ") + word;
  return words.empty() ? "an operator" : words;
}

// Removes its request in its destructor.
class RequestGuard {
 public:
  RequestGuard(const ReleaseRequests& requests, std::filesystem::path path)
      : requests_(requests), path_(std::move(path)) {}
  ~RequestGuard() {
    if (!path_.empty()) requests_.remove(path_);
  }
  RequestGuard(const RequestGuard&) = delete;
  RequestGuard& operator=(const RequestGuard&) = delete;

 private:
  const ReleaseRequests& requests_;
  std::filesystem::path path_;
};

constexpr std::chrono::milliseconds kLook{50};
constexpr int kCannotStart = 127;  // as in a shell
constexpr int kSignalBase = 128;

// In the child: creates a process group, so that the program can be ended with its children, resets
// the signals to their defaults, and ends the program if this command dies.
[[noreturn]] void become(const std::vector<std::string>& program) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  std::vector<char*> words;
  words.reserve(program.size() + 1);
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  const std::string fault = "error: cannot start " + program.front() + ": " +
                            std::generic_category().message(errno) + "\n";
  static_cast<void>(!::write(STDERR_FILENO, fault.data(), fault.size()));
  ::_exit(kCannotStart);
}

// Ends the processes that an ended program leaves behind, so that none outlives the release.
void end_group(pid_t group, Clock& clock) {
  const auto patience = clock.steady() + kProgramStopsWithin;
  for (int signal = SIGTERM; ::kill(-group, signal) == 0;) {
    while (::waitpid(-group, nullptr, WNOHANG) > 0) {
    }
    if (clock.steady() >= patience + kProgramStopsWithin) return;
    if (clock.steady() >= patience) signal = SIGKILL;
    clock.sleep_for(kLook, {});
  }
}

// Inherits input and output, so that an operator sees the program's messages.
int run_program(const std::vector<std::string>& program, Clock& clock, Clock::Steady ends,
                const std::stop_token& stop, std::ostream& err) {
  ::signal(SIGCHLD, SIG_DFL);  // SIG_IGN would lose the exit code
  const pid_t pid = ::fork();
  if (pid < 0) return complain(Error{ErrorKind::kUnavailable, "cannot start another process"});
  if (pid == 0) become(program);
  ::setpgid(pid, pid);  // the child does the same: one of the two is first
  int status = 0;
  bool is_told_to_stop = false;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid, &status, WNOHANG)) == 0) {
    const bool is_over = clock.steady() >= ends;
    if (!is_told_to_stop && (is_over || stop.stop_requested())) {
      if (is_over) err << "error: the program did not end in time and is stopped\n";
      ::kill(-pid, SIGTERM);
      is_told_to_stop = true;
      ends = clock.steady() + kProgramStopsWithin;
    } else if (is_told_to_stop && is_over) {
      ::kill(-pid, SIGKILL);
      ends = Clock::Steady::max();
    }
    clock.sleep_for(kLook, {});
  }
  end_group(pid, clock);
  if (ended < 0) return kFailed;
  if (WIFSIGNALED(status)) return kSignalBase + WTERMSIG(status);
  return is_told_to_stop && WEXITSTATUS(status) == 0 ? kFailed : WEXITSTATUS(status);
}

int wait_for_end(Clock& clock, Clock::Steady ends, const std::stop_token& stop) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends - clock.steady());
  std::cout << "Released until " << to_rfc3339(clock.wall() + left)
            << ". End this command to let the exporter take the GPUs again.\n"
            << std::flush;
  clock.sleep_for(left, stop);
  return kDone;
}

int release_for(const CommandWish& wish, const Flags& flags, Clock& clock,
                const std::stop_token& stop) {
  ReleaseWish release = wish.release;
  release.why = reason_of(wish);
  return run_with_released_gpus(flags.state_path, read_boot(flags.host).id, release, clock, stop,
                                std::cerr, [&](Clock::Steady ends) {
                                  return wish.program.empty() ? wait_for_end(clock, ends, stop)
                                                              : run_program(wish.program, clock,
                                                                            ends, stop, std::cerr);
                                });
}

}  // namespace

void add_gpu_release_command(CLI::App& app, Commands& commands) {
  const auto wish = std::make_shared<CommandWish>();
  CLI::App* command = app.add_subcommand(
      "gpu-release", "Run a program, such as a GPU reset, while the exporter holds no GPU");
  command->fallthrough();
  add_duration_option(
      *command, "--for", wish->release.lasts, {kShortestRelease, GpuReleases::kLongest},
      "Time limit of the program, 10s to 30m; the exporter takes the GPUs again at its end");
  command->add_option("--why", wish->release.why, "Reason for the exporter's log and pages");
  command
      ->add_option(
          "PROGRAM", wish->program,
          "The program and its arguments, after --; default: wait until you end the command")
      ->type_name("TEXT ...");
  add_examples(app, kGpuReleaseExamples);
  commands.emplace_back(command, [wish](const Flags& flags) {
    return until_signal([&](const std::stop_token& stop) {
      return release_for(*wish, flags, lasting_clock(), stop);
    });
  });
}

int run_with_released_gpus(const std::filesystem::path& state_folder, const std::string& boot_id,
                           const ReleaseWish& wish, Clock& clock, const std::stop_token& stop,
                           std::ostream& err, const ReleasedWork& work) {
  const auto ends = clock.steady() + wish.lasts;
  const ReleaseRequests requests(state_folder);
  const ReleaseRequest request{.who = host_name() + ", pid " + std::to_string(::getpid()),
                               .why = wish.why,
                               .boot_id = boot_id,
                               // The work stops before the exporter takes the GPUs back.
                               .until = clock.wall() + wish.lasts + 2 * kProgramStopsWithin};
  const auto path = requests.leave(request, clock.wall());
  // If the GPUs are in use, the program reports that itself.
  if (!path) err << "Failed to ask the exporter: " << path.error().message << "\n";
  const RequestGuard guard(requests, path.value_or(std::filesystem::path()));
  const std::string answer =
      path ? wait_for_answer(RequestFolder::answer_to(*path), kExporterReleasesWithin, clock, stop)
           : std::string();
  if (stop.stop_requested()) return kFailed;
  if (answer.empty()) {
    err << "The exporter did not release the GPUs within 5 s, or none is running: continuing\n";
  } else if (answer != GpuReleases::kReleased) {
    err << "error: the GPUs are in use by another process: the exporter has not released them: "
        << answer << "\n";
    return kFailed;
  }
  const auto lock = GpuLock::take(state_folder, "gpu-release");
  if (!lock) {
    err << "error: the GPUs are in use by another process: " << lock.error().message << "\n";
    return kFailed;
  }
  return work(ends);
}

}  // namespace gpuward::exporter
