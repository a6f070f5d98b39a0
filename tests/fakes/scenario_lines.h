// The text file of `key = value` lines with the answers of a fake GPU library: the syntax that
// nvml/scenario.h and amd_smi/amd_scenario.h share. Those headers list the keys.
//
// `#` starts a comment line; a later line overrides an earlier one.
//   include = healthy_8x_h100.conf     another file's lines, relative to this file
//   unset = gpu.*.ecc                  forgets the keys that start so (and `gpu.3.` ones of it)
//   FIRST.N.KEY                        of GPU N; FIRST.*.KEY of the GPUs without their own line
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace gpuward::fakes {

class ScenarioLines {
 public:
  // Skips a line that it cannot read, and reports it on stderr.
  void load(const std::string& path, int depth = 0);

  [[nodiscard]] const std::string* find(const std::string& key) const;
  [[nodiscard]] const std::string* of_gpu(std::string_view first, std::size_t gpu,
                                          std::string_view key) const;
  // The lines whose key starts with the prefix, by the rest of the key.
  [[nodiscard]] std::map<std::string, std::string> under(std::string_view prefix) const;

 private:
  void take(const std::string& path, std::string_view line, int depth);
  std::map<std::string, std::string, std::less<>> lines_;
};

}  // namespace gpuward::fakes
