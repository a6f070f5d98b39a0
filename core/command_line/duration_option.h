// A flag with a duration such as `10m`, within limits. Used by the commands of gpuward-exporter
// that have a time limit.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "core/runtime/yaml_scalars.h"

namespace gpuward {

struct DurationLimits {
  std::chrono::milliseconds least, most;
};

// `time` holds the default and must outlive the command. Any other value than a duration within
// `limits` is an error of the command line.
template <typename Duration>
CLI::Option* add_duration_option(CLI::App& command, const std::string& name, Duration& time,
                                 DurationLimits limits, const std::string& meaning) {
  const auto read = [&time](const std::string& word) {
    time = std::chrono::duration_cast<Duration>(*parse_duration(word));
  };
  return command.add_option_function<std::string>(name, read, meaning)
      ->default_str(to_duration_text(time))
      ->check([limits](const std::string& word) {
        const auto parsed = parse_duration(word);
        const bool is_within = parsed && *parsed >= limits.least && *parsed <= limits.most;
        return is_within ? std::string()
                         : word + " is not a duration from " + to_duration_text(limits.least) +
                               " to " + to_duration_text(limits.most);
      });
}

}  // namespace gpuward
