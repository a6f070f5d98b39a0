// Runs the checks of a quarantine through the check command and parses its line of JSON. Called by
// main() for `gpuward-exporter quarantine`.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/commands/progress.h"
#include "exporter/commands/quarantine.h"

namespace gpuward::exporter {

// Runs `check --check <number> --json --exclusive`, writes its output to `json` and returns its
// exit code.
using CheckByNumber =
    std::function<int(int number, const std::stop_token& stop, std::ostream& json)>;

// Also copies the command's output to `out`.
[[nodiscard]] RunCheck run_by_command(CheckByNumber command, std::ostream& out);

// Returns the label that asks for the GPUs now (asking_label.h).
using AskingLabel = std::function<std::optional<std::string>()>;

// Polls every 10 s while a check runs; if there is a label, stops the check and returns kBlocked
// (blocked_by). `clock` must outlive it; `asking_label` is called on another thread.
[[nodiscard]] RunCheck until_asked_for_gpus(RunCheck run, AskingLabel asking_label, Clock& clock);

// The name and time limit of a check, for the progress line.
struct NamedCheck {
  int number = 0;
  std::string_view name;  // "4-dcgm-diag-l4"
  std::chrono::milliseconds limit{0};
};

// Shows at each check its number among `checks`. `progress` must outlive it.
[[nodiscard]] RunCheck with_progress(RunCheck run, std::vector<NamedCheck> checks,
                                     ProgressLine& progress);

}  // namespace gpuward::exporter
