#include "exporter/commands/gpu_worker_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "core/model/pci_address.h"
#include "exporter/gpu/report/library.h"
#include "exporter/gpu/worker/worker_loop.h"

namespace gpuward::exporter {

CLI::App* add_gpu_worker(CLI::App& app, GpuChoice& choice) {
  CLI::App* command =
      app.add_subcommand("gpu-worker", "Read the GPUs for the exporter, which starts this itself");
  command->group("")->fallthrough();
  const CLI::Validator is_name(
      [](const std::string& text) {
        return parse_gpu_name(text) ? std::string() : text + " is not a GPU";
      },
      "GPU");
  command
      ->add_option_function<std::vector<std::string>>(
          "--gpu.leave-out",
          [&choice](const std::vector<std::string>& names) {
            for (const std::string& name : names) choice.left_out.push_back(*parse_gpu_name(name));
          },
          "Do not ask this GPU: INDEX@PCI, may be repeated")
      ->check(is_name);
  command
      ->add_option_function<std::string>(
          "--gpu.only", [&choice](const std::string& name) { choice.only = parse_gpu_name(name); },
          "Ask this GPU alone: INDEX@PCI")
      ->check(is_name);
  return command;
}

void add_gpu_worker_command(CLI::App& app, Commands& commands) {
  const auto choice = std::make_shared<GpuChoice>();
  commands.emplace_back(add_gpu_worker(app, *choice), [choice](const Flags& flags) -> int {
    LibraryPaths libraries = flags.libraries;
    libraries.choice = *choice;
    gpu_worker_main(gpu_libraries(), libraries);
  });
}

}  // namespace gpuward::exporter
