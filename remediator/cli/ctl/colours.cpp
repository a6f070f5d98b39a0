#include "remediator/cli/ctl/colours.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace gpuward::remediator {
namespace {

struct Colour {
  std::string_view word, code;
};

constexpr std::string_view kRed = "\033[31m", kYellow = "\033[33m", kGreen = "\033[32m",
                           kPlain = "\033[0m";
constexpr std::array kColours{
    Colour{"STOPPED", kRed},    Colour{"BROKEN", kRed},     Colour{"CONNECTED", kRed},
    Colour{"OPEN", kRed},       Colour{"Held", kRed},       Colour{"isolate", kRed},
    Colour{"Waiting", kYellow}, Colour{"Paused", kYellow},  Colour{"reboot", kYellow},
    Colour{"reset", kYellow},   Colour{"Released", kGreen}, Colour{"Replaced", kGreen},
    Colour{"closed", kGreen},
};

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

}  // namespace

std::string coloured(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_of_word);
    const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    const auto* const found = std::ranges::find(kColours, word, &Colour::word);
    if (found != kColours.end()) {
      out.append(found->code).append(word).append(kPlain);
    } else {
      out.append(word);
    }
    text.remove_prefix(word.size());
    const auto next = std::ranges::find_if(text, is_of_word);
    const auto between = static_cast<std::size_t>(next - text.begin());
    out.append(text.substr(0, between));
    text.remove_prefix(between);
  }
  return out;
}

}  // namespace gpuward::remediator
