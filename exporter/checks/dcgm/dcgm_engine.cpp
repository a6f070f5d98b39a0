#include "exporter/checks/dcgm/dcgm_engine.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kEngine = "nv-hostengine";
constexpr milliseconds kProbeTimeout = std::chrono::seconds(10);
constexpr milliseconds kStartLimit = std::chrono::seconds(30);
constexpr milliseconds kBetweenProbes{200};
constexpr milliseconds kGrace = std::chrono::seconds(5);

std::string first_line(const std::string& text) {
  const std::string_view trimmed = trim(text);
  return to_valid_utf8(trimmed.substr(0, trimmed.find('\n')), 256);
}

// Whether dcgmi gets an answer: it connects to the engine to list the GPUs.
Status probe(const CheckContext& context) {
  ChildCommand command;
  command.program = "dcgmi";
  command.arguments = {"discovery", "-l"};
  command.search = context.settings.tool_dirs;
  command.timeout = kProbeTimeout;
  command.stop = context.stop;
  const auto result = run_child(command, context.clock);
  if (!result) return std::unexpected(result.error());
  if (result->exit_code == 0) return {};
  const std::string said = first_line(result->output + result->complaint);
  return fail(ErrorKind::kUnavailable,
              "dcgmi discovery " + how_it_ended(*result) + (said.empty() ? "" : ": " + said));
}

}  // namespace

struct DcgmEngine::Outcome {
  std::mutex mutex;
  std::optional<std::string> ended;

  std::optional<std::string> get() {
    const std::lock_guard lock(mutex);
    return ended;
  }
};

Result<std::unique_ptr<DcgmEngine>> DcgmEngine::reach(const CheckContext& context,
                                                      milliseconds lifetime) {
  std::unique_ptr<DcgmEngine> engine(new DcgmEngine);
  const Status reached = probe(context);
  if (reached) return engine;
  if (reached.error().kind != ErrorKind::kUnavailable) return std::unexpected(reached.error());
  const Processes processes = list_processes(context.host);
  if (const Process* const running = processes.find(kEngine)) {
    return fail(ErrorKind::kUnavailable,
                "nv-hostengine runs (pid " + std::to_string(running->pid) +
                    "), but dcgmi cannot reach it from here: " + reached.error().message);
  }
  if (Status started = engine->start(context, lifetime); !started)
    return std::unexpected(started.error());
  return engine;
}

Status DcgmEngine::start(const CheckContext& context, milliseconds lifetime) {
  ChildCommand command;
  command.program = kEngine;
  command.arguments = {"--no-daemon"};  // it stays in our process group
  command.search = context.settings.tool_dirs;
  command.timeout = lifetime;
  command.grace = kGrace;
  if (const auto found = find_program(command.program, command.search); !found)
    return std::unexpected(found.error());
  outcome_ = std::make_shared<Outcome>();
  thread_ = std::jthread(
      [command, &clock = context.clock, outcome = outcome_](const std::stop_token& stop) mutable {
        command.stop = stop;
        const auto result = run_child(command, clock);
        const std::lock_guard lock(outcome->mutex);
        outcome->ended =
            result ? how_it_ended(*result) + ": " + first_line(result->complaint + result->output)
                   : result.error().message;
      });
  return wait_until_up(context);
}

Status DcgmEngine::wait_until_up(const CheckContext& context) const {
  const auto deadline = context.clock.steady() + kStartLimit;
  while (true) {
    const Status reached = probe(context);
    if (reached || reached.error().kind == ErrorKind::kCancelled) return reached;
    if (const auto ended = outcome_->get())
      return fail(ErrorKind::kUnavailable, "nv-hostengine was started and " + *ended);
    if (context.clock.steady() >= deadline) {
      return fail(ErrorKind::kUnavailable, "nv-hostengine was started and is not up after " +
                                               std::to_string(kStartLimit.count() / 1000) +
                                               " s: " + reached.error().message);
    }
    if (!context.clock.sleep_for(kBetweenProbes, context.stop))
      return fail(ErrorKind::kCancelled, "we were told to stop");
  }
}

}  // namespace gpuward::exporter
