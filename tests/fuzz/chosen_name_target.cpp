// Puts names that a process may choose for itself and its program into the kernel messages that
// print them: no such message may become an event. Driven by the same two drivers as the kernel-log
// reader.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/xid/parser.h"
#include "tests/fuzz/target.h"
#include "tests/unit/core/xid/chosen_names.h"

namespace gpuward::fuzz {
namespace {

constexpr std::size_t kLongestComm = 15, kLongestFile = 255;

void check_names(std::string_view comm, std::string_view file, const std::string& message) {
  const std::string record =
      xid::test::with_names(message, comm.substr(0, kLongestComm), file.substr(0, kLongestFile));
  hold(!xid::parse_message(record), "a chosen name makes no event");
}

}  // namespace

void check_input(std::string_view input) {
  static const std::vector<std::string> messages = xid::test::load_chosen_names();
  const std::string& message = messages[std::hash<std::string_view>{}(input) % messages.size()];
  check_names(input, input, message);
  check_names(input, input.substr(std::min(input.size(), kLongestComm)), message);
}

}  // namespace gpuward::fuzz
