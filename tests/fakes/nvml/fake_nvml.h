// A fake libnvidia-ml.so.1 for a test in C++: a scenario of tests/testdata/invented/nvml in its own
// folder, which the test changes while the library (in this process or in a child) runs. scenario.h
// lists the keys. One at a time, because the library finds it by the environment.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace gpuward::fake_nvml {

class FakeNvml {
 public:
  // "healthy_8x_h100", "lost_gpu", …
  explicit FakeNvml(std::string_view scenario);

  // For LibraryPaths::nvml. The second one lacks the functions that drivers of 2019 lack.
  [[nodiscard]] static std::string library();
  [[nodiscard]] static std::string old_driver_library();
  // Stays in the process after dlclose.
  [[nodiscard]] static std::string lasting_library();

  // Takes effect with the library's next call; `value` as a scenario writes it.
  void set(std::string_view key, std::string_view value);
  // Another ready scenario, instead of all that was set.
  void play(std::string_view scenario);
  // These lines, instead of all that was set.
  void play_lines(std::string lines);
  // `instances`: "1 0", the GPU instance and the compute instance.
  void raise_xid(int gpu, unsigned code, std::string_view instances = {}) const;

  // The library's calls so far, "nvmlDeviceGetUUID 3".
  [[nodiscard]] std::vector<std::string> calls() const;
  [[nodiscard]] std::size_t count_calls(std::string_view function) const;

  // For a child process with its own environment.
  [[nodiscard]] std::string scenario_path() const { return (folder_ / "scenario.conf").string(); }

 private:
  void write() const;

  support::TempDir folder_;
  std::string text_;
  support::Environment scenario_;
  support::Environment log_;
};

}  // namespace gpuward::fake_nvml
