#include "tests/unit/core/xid/chosen_names.h"

#include <fstream>
#include <stdexcept>

#include "tests/places.inc"

namespace gpuward::xid::test {
namespace {

// Escapes unprintable characters and backslashes as /dev/kmsg does (printk_ringbuffer's readers).
std::string escaped(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127 && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 0xfU];
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> load_chosen_names() {
  const std::string path =
      std::string{GPUWARD_SOURCE_DIR} + "/tests/testdata/kernel_log/chosen_names.txt";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> messages;
  for (std::string line; std::getline(in, line);)
    messages.push_back(line.substr(line.find('\t') + 1));
  return messages;
}

std::string with_names(std::string_view message, std::string_view comm, std::string_view file) {
  constexpr std::string_view kComm = "{comm}", kFile = "{file}";
  std::string text;
  while (!message.empty()) {
    if (message.starts_with(kComm)) {
      text += escaped(comm);
      message.remove_prefix(kComm.size());
    } else if (message.starts_with(kFile)) {
      text += escaped(file);
      message.remove_prefix(kFile.size());
    } else {
      text += message.front();
      message.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace gpuward::xid::test
