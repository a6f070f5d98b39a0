#include "exporter/commands/gpu_reset_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <sstream>

#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "core/model/gpu_reset_words.h"
#include "exporter/commands/gpu_release_command.h"
#include "exporter/commands/gpu_reset.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/host/boot.h"
#include "exporter/host/pci.h"
#include "exporter/store/clear_request.h"
#include "exporter/watch/gpu_releases.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kGpuResetExamples = {
    Example{"gpu-reset", "gpuward-exporter gpu-reset\ngpuward-exporter gpu-reset --vendor=amd"}};

// Reserved at the end of the time for ending a hung program and restoring persistence mode, and
// because some of a Job's time passes before its pod runs. Half of the time, if that is less.
constexpr std::chrono::seconds kLastPart{150};
constexpr std::chrono::seconds kShortestTime{10};
constexpr std::chrono::hours kLongestTime{24 * 7};  // of the step

// A kubelet keeps 4 KiB of a termination message.
std::string both_ends_of(const std::string& text) {
  constexpr std::size_t kEnd = 1500;
  if (text.size() <= 2 * kEnd) return text;
  return text.substr(0, kEnd) + " ...\n" + text.substr(text.size() - kEnd);
}

Result<Vendor> vendor_on_pci(const HostPaths& host) {
  const auto devices = list_pci_devices(host);
  if (!devices) return with_context("give --vendor", devices.error());
  const bool is_nvidia = std::ranges::any_of(*devices, is_nvidia_gpu);
  const bool is_amd = std::ranges::any_of(*devices, is_amd_gpu);
  // Many servers with NVIDIA GPUs have AMD graphics for a display.
  if (is_nvidia && !has_amd_accelerator(host)) return Vendor::kNvidia;
  if (is_amd && !is_nvidia) return Vendor::kAmd;
  return fail(ErrorKind::kInvalid, is_nvidia ? "the PCI bus has GPUs of both vendors: give --vendor"
                                             : "the PCI bus has no GPU: give --vendor");
}

int reset_gpus(Vendor vendor, const GpuResetTools& tools, const GpuResetWish& wish,
               const Flags& flags, std::ostream& out) {
  PausedUnits units(tools, wish.pause_units);
  const GpuReset reset = vendor == Vendor::kAmd ? reset_amd_gpus(tools) : reset_nvidia_gpus(tools);
  // AMD needs no request: a line of the kernel log clears the findings of each GPU.
  if (reset.exit_code == kDone && vendor == Vendor::kNvidia) {
    ClearRequest request{.after_gpu_reset = true};
    request.reset_ended = reset.ended;
    // Written even if no finding is known here, because drills are not in the state folder.
    const auto left = ClearRequests(flags.state_path).leave(request, tools.clock().wall());
    if (!left)
      out << "Failed to ask the exporter to clear findings: " << left.error().message << "\n";
  }
  out << units.start_again() << reset.words;
  return reset.exit_code;
}

}  // namespace

void add_gpu_reset_command(CLI::App& app, Commands& commands) {
  const auto wish = std::make_shared<GpuResetWish>();
  CLI::App* command = app.add_subcommand(
      "gpu-reset", "Reset all GPUs of this node while the exporter holds none of them");
  command->fallthrough();
  command->add_option("--boot-id", wish->boot_id,
                      "Reset nothing in another boot than this; default: in any");
  command
      ->add_option_function<std::string>(
          "--vendor",
          [wish](const std::string& word) {
            wish->vendor = word == "amd" ? Vendor::kAmd : Vendor::kNvidia;
          },
          "nvidia or amd; default: by the PCI bus")
      ->check(CLI::IsMember({"nvidia", "amd"}));
  add_duration_option(
      *command, "--timeout", wish->timeout, {kShortestTime, kLongestTime},
      "Time limit of the command, 10s to 7d; the exporter takes the GPUs again after 30m at the "
      "latest");
  command
      ->add_option("--pause-units", wish->pause_units,
                   "systemd units, with commas between them: those that run are stopped until the "
                   "reset has ended")
      ->delimiter(',');
  command->add_option("--termination-log", wish->termination_log,
                      "Write the output to this file too: Kubernetes' terminationMessagePath");
  add_examples(app, kGpuResetExamples);
  commands.emplace_back(command, [wish](const Flags& flags) {
    return until_signal([&](const std::stop_token& stop) {
      std::ostringstream said;
      const int code = run_gpu_reset(flags, *wish, lasting_clock(), stop, said);
      std::cout << said.str() << std::flush;
      if (!wish->termination_log.empty())
        std::ofstream(wish->termination_log, std::ios::binary) << both_ends_of(said.str());
      return code;
    });
  });
}

int run_gpu_reset(const Flags& flags, const GpuResetWish& wish, Clock& clock,
                  const std::stop_token& stop, std::ostream& out) {
  const auto vendor = wish.vendor ? Result<Vendor>(*wish.vendor) : vendor_on_pci(flags.host);
  if (!vendor) return complain(vendor.error());
  const std::string boot_id = read_boot(flags.host).id;
  const bool is_known = !boot_id.empty() && !wish.boot_id.empty();
  if (is_known && boot_id != wish.boot_id) {
    out << kBootedSince << ": no GPU was reset\n";
    return kFailed;
  }
  const ReleaseWish release{
      .lasts = std::min<std::chrono::seconds>(wish.timeout, GpuReleases::kLongest),
      .why = "a GPU reset"};
  const auto last_part = std::min<std::chrono::seconds>(kLastPart, release.lasts / 2);
  bool has_begun = false;
  const int code = run_with_released_gpus(
      flags.state_path, boot_id, release, clock, stop, out, [&](Clock::Steady ends) {
        has_begun = true;
        return reset_gpus(*vendor, GpuResetTools(flags.host, clock, ends - last_part, stop), wish,
                          flags, out);
      });
  if (!has_begun && stop.stop_requested()) out << kStoppedBefore << "\n";
  return code;
}

}  // namespace gpuward::exporter
