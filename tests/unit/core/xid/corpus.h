// The real kernel-log lines of tests/testdata/kernel_log with the expected values of each, label by
// label.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpuward::xid::test {

struct LabelledLine {
  std::size_t number = 0;  // 1 and up
  std::string text;
  std::string kind;     // "xid", "fallen_off", "aer", "none", ...
  std::string code;     // "79", "corrected"; empty if it has none
  std::string address;  // as printed
  std::string pid;
  std::string process;
  std::string must_match;  // "yes", "no", "optional"
  std::string link;
};

[[nodiscard]] std::vector<LabelledLine> load_corpus();

}  // namespace gpuward::xid::test
