// The text file of `key = value` lines that says what a fake GPU library answers: the syntax that
// nvml/scenario.h and amd_smi/amd_scenario.h share; which keys there are stands there.
//
// `#` starts a comment line; a later line overrides an earlier one.
//   include = healthy_8x_h100.conf     another file's lines, relative to this file
//   unset = gpu.*.ecc                  forgets the keys that start so (and `gpu.3.` ones of it)
//   FIRST.N.KEY                        of GPU N; FIRST.*.KEY of those that have no line of their
//   own
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace gpuward::fakes {

class ScenarioLines {
 public:
  // What cannot be read is left out and said on stderr.
  void load(const std::string& path, int depth = 0);

  [[nodiscard]] const std::string* find(const std::string& key) const;
  [[nodiscard]] const std::string* of_gpu(std::string_view first, std::size_t gpu,
                                          std::string_view key) const;
  // The lines whose key starts with the prefix, by what follows it.
  [[nodiscard]] std::map<std::string, std::string> under(std::string_view prefix) const;

 private:
  void take(const std::string& path, std::string_view line, int depth);
  std::map<std::string, std::string, std::less<>> lines_;
};

}  // namespace gpuward::fakes
