// How a quarantine runs its checks: by the check command, whose line of JSON is read back as a
// result. Called by main() for `gpuward-exporter quarantine`.
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

// `check --check <number> --json --exclusive`: its output goes to `json`, its exit code comes back.
using CheckByNumber =
    std::function<int(int number, const std::stop_token& stop, std::ostream& json)>;

// Copies what the command prints to `out` as well.
[[nodiscard]] RunCheck run_by_command(CheckByNumber command, std::ostream& out);

// The label that asks for the GPUs now (asking_label.h).
using AskingLabel = std::function<std::optional<std::string>()>;

// Asks every 10 s while a check runs; if there is a label, stops the check and returns kBlocked
// (blocked_by). `clock` must outlive it; `asking_label` is called on another thread.
[[nodiscard]] RunCheck until_asked_for_gpus(RunCheck run, AskingLabel asking_label, Clock& clock);

// What is to be said of a check that is run, and how long it may take.
struct NamedCheck {
  int number = 0;
  std::string_view name;  // "4-dcgm-diag-l4"
  std::chrono::milliseconds limit{0};
};

// Says at each check which one of `checks` it is. `progress` must outlive it.
[[nodiscard]] RunCheck with_progress(RunCheck run, std::vector<NamedCheck> checks,
                                     ProgressLine& progress);

}  // namespace gpuward::exporter
