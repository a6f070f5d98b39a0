#include "exporter/commands/inject_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>

#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/store/request_folder.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kInjectExamples = {
    Example{"inject",
            "gpuward-exporter inject xid 79 --gpu 3\n"
            "gpuward-exporter inject end"},
    Example{"inject xid", "gpuward-exporter inject xid 79 --gpu 3 --for 20m"},
    Example{"inject ecc", "gpuward-exporter inject ecc 2 --gpu 0000:4e:00"},
    Example{"inject gpu-lost", "gpuward-exporter inject gpu-lost --gpu 3"},
    Example{"inject end", "gpuward-exporter inject end\ngpuward-exporter inject end --gpu 3"},
};
constexpr std::chrono::milliseconds kExporterAnswersWithin{5'000};
constexpr std::string_view kRefusal = "refused: ";

std::string label_hint(const std::string& node) {
  return "gpuward acts on this drill only while the node has the label gpuward.dev/drill=allowed:\n"
         "  kubectl label node " +
         node + " gpuward.dev/drill=allowed\n";
}

class InjectCommands {
 public:
  InjectCommands(CLI::App& app, Commands& commands) : app_(app), commands_(commands) {
    inject_ = app.add_subcommand(
        "inject", "Inject a simulated GPU fault into this node's exporter for a drill");
    inject_->fallthrough();
    inject_->require_subcommand(1);
  }

  void add_all() {
    const auto xid = add(DrillKind::kXid, "Simulate a kernel-log line with this Xid");
    xid.command->add_option("CODE", xid.request->number, "Code of the Xid: 79")
        ->type_name("INT")
        ->required();
    const auto ecc = add(DrillKind::kEcc, "Simulate uncorrected ECC errors");
    ecc.request->number = 1;
    ecc.command->add_option("COUNT", ecc.request->number, "How many")
        ->type_name("INT")
        ->capture_default_str();
    add(DrillKind::kGpuLost, "Simulate a GPU that the driver and the kernel have lost");
    add(DrillKind::kEnd, "End the drills of this node, or of one GPU");
    add_examples(app_, kInjectExamples);
  }

 private:
  struct Added {
    CLI::App* command;
    std::shared_ptr<DrillRequest> request;
  };

  Added add(DrillKind kind, const char* meaning) {
    const auto request = std::make_shared<DrillRequest>();
    request->kind = kind;
    CLI::App* const command = inject_->add_subcommand(std::string(to_string(kind)), meaning);
    command->fallthrough();
    CLI::Option* const gpu =
        command->add_option("--gpu", request->gpu, "GPU by its index or PCI address");
    if (kind != DrillKind::kEnd) {
      gpu->required();
      add_duration_option(
          *command, "--for", request->lasts, {kShortestDrill, kLongestDrill},
          "How long the drill lasts, 1m to 1h; it also ends when the exporter restarts");
    }
    commands_.emplace_back(command, [request](const Flags& flags) {
      SystemClock clock;
      return run_inject(flags.state_path, node_name(flags), *request, clock, std::cout);
    });
    return {command, request};
  }

  CLI::App& app_;
  Commands& commands_;
  CLI::App* inject_;
};

}  // namespace

void add_inject_command(CLI::App& app, Commands& commands) {
  InjectCommands(app, commands).add_all();
}

int run_inject(const std::filesystem::path& state_folder, const std::string& node,
               const DrillRequest& request, Clock& clock, std::ostream& out) {
  if (auto valid = parse_drill_request(to_json(request)); !valid) return complain(valid.error());
  const auto path = RequestFolder(drill_folder(state_folder)).leave(to_json(request), clock.wall());
  if (!path) return complain(path.error());
  std::string answer =
      wait_for_answer(RequestFolder::answer_to(*path), kExporterAnswersWithin, clock);
  std::error_code error;
  const bool is_taken = answer.empty() && !std::filesystem::remove(*path, error);
  if (is_taken)
    answer = wait_for_answer(RequestFolder::answer_to(*path), kExporterAnswersWithin,
                             clock);  // it arrives a moment later
  if (answer.empty()) {
    out << "No exporter answered in time. Check that one is running with --state.path "
        << state_folder.string() << ".\n";
    return kFailed;
  }
  out << answer << "\n";
  if (answer.starts_with(kRefusal)) return kFailed;
  if (request.kind != DrillKind::kEnd) out << label_hint(node);
  return kDone;
}

}  // namespace gpuward::exporter
