#include "exporter/commands/gpu_release_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>

#include "core/command_line/examples.h"
#include "core/runtime/child.h"
#include "core/runtime/yaml_scalars.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/host/boot.h"
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
// The exporter looks once a second, and its worker ends within half a second.
constexpr std::chrono::milliseconds kExporterReleasesWithin{5'000};
// Between SIGTERM and SIGKILL, if the time is over or this command is stopped.
constexpr seconds kProgramStopsWithin{5};

std::string reason_of(const ReleaseWish& wish) {
  if (!wish.why.empty()) return wish.why;
  std::string words;
  for (const std::string& word : wish.program) words += (words.empty() ? "" : " ") + word;
  return words.empty() ? "an operator" : words;
}

// Removes its request however this ends.
class Asked {
 public:
  Asked(const ReleaseRequests& requests, std::filesystem::path path)
      : requests_(requests), path_(std::move(path)) {}
  ~Asked() { requests_.remove(path_); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

 private:
  const ReleaseRequests& requests_;
  std::filesystem::path path_;
};

int run_program(const ReleaseWish& wish, Clock& clock, const std::stop_token& stop,
                std::chrono::milliseconds left, std::ostream& out, std::ostream& err) {
  ChildCommand command;
  command.program = wish.program.front();
  command.arguments.assign(wish.program.begin() + 1, wish.program.end());
  command.timeout = left;
  command.grace = kProgramStopsWithin;
  command.stop = stop;
  const auto done = run_child(command, clock);
  if (!done) return complain(done.error());
  out << done->output << std::flush;
  err << done->complaint << std::flush;
  constexpr int kSignalBase = 128;  // as a shell says it
  return done->signal != 0 ? kSignalBase + done->signal : done->exit_code;
}

std::string is_duration(const std::string& word) {
  const auto parsed = parse_duration(word);
  const bool is_time = parsed && *parsed >= kShortestRelease && *parsed <= GpuReleases::kLongest;
  return is_time ? std::string() : word + " is not a duration from 10s to 30m";
}

}  // namespace

void add_gpu_release_command(CLI::App& app, Commands& commands) {
  const auto wish = std::make_shared<ReleaseWish>();
  CLI::App* command = app.add_subcommand(
      "gpu-release", "Run a program, such as a GPU reset, while the exporter holds no GPU");
  command->fallthrough();
  command
      ->add_option_function<std::string>(
          "--for",
          [wish](const std::string& word) {
            wish->lasts = std::chrono::duration_cast<seconds>(*parse_duration(word));
          },
          "Time limit of the program, 10s to 30m; the exporter takes the GPUs again at its end")
      ->default_str("10m")
      ->check(is_duration);
  command->add_option("--why", wish->why, "Reason for the exporter's log and pages");
  command
      ->add_option(
          "PROGRAM", wish->program,
          "The program and its arguments, after --; default: wait until you end the command")
      ->type_name("TEXT ...");
  add_examples(app, kGpuReleaseExamples);
  commands.emplace_back(command, [wish](const Flags& flags) {
    return until_signal([&](const std::stop_token& stop) {
      return run_with_released_gpus(flags.state_path, read_boot(flags.host).id, *wish,
                                    lasting_clock(), stop, std::cout, std::cerr);
    });
  });
}

int run_with_released_gpus(const std::filesystem::path& state_folder, const std::string& boot_id,
                           const ReleaseWish& wish, Clock& clock, const std::stop_token& stop,
                           std::ostream& out, std::ostream& err) {
  const auto ends = clock.steady() + wish.lasts;
  const ReleaseRequests requests(state_folder);
  const ReleaseRequest request{.who = host_name() + ", pid " + std::to_string(::getpid()),
                               .why = reason_of(wish),
                               .boot_id = boot_id,
                               // The program is stopped before the exporter takes the GPUs again.
                               .until = clock.wall() + wish.lasts + kProgramStopsWithin};
  const auto path = requests.leave(request, clock.wall());
  // Without the state folder no exporter has ever run here.
  if (!path && std::filesystem::exists(state_folder)) return complain(path.error());
  const Asked asked(requests, path.value_or(std::filesystem::path()));
  const std::string answer =
      path ? wait_for_answer(RequestFolder::answer_to(*path), kExporterReleasesWithin, clock)
           : std::string();
  if (answer.empty()) {
    err << "No exporter answered within 5 s: continuing\n";
  } else if (answer != GpuReleases::kReleased) {
    err << "error: the GPUs are in use by another process: the exporter has not released them: "
        << answer << "\n";
    return kFailed;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends - clock.steady());
  if (!wish.program.empty()) return run_program(wish, clock, stop, left, out, err);
  out << "Released until " << to_rfc3339(clock.wall() + left)
      << ". End this command to let the exporter take the GPUs again.\n"
      << std::flush;
  clock.sleep_for(left, stop);
  return kDone;
}

}  // namespace gpuward::exporter
