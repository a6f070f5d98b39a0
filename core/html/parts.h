// What the pages of both programs are made of: tables, lists of facts, marks of severity, commands
// to copy. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/html/markup.h"

namespace gpuward::html {

// "● monitor", "◆ reset", "▲ reboot", "■ isolate": a shape, a word and a colour.
[[nodiscard]] Markup severity_mark(std::string_view severity);
// What has to be looked at.
[[nodiscard]] Markup alarm(const Markup& text);
[[nodiscard]] Markup well(const Markup& text);
// To be copied into a shell.
[[nodiscard]] Markup command(std::string_view text);
// A sentence where a table would be empty.
[[nodiscard]] Markup note(const Markup& text);

struct Column {
  std::string head;
  bool is_number = false;
};

// A column without any content is left out; on a phone each row is a block of its own.
[[nodiscard]] Markup table(const std::vector<Column>& columns,
                           const std::vector<std::vector<Markup>>& rows);

// Names and values; what has no value is left out.
[[nodiscard]] Markup facts(const std::vector<std::pair<std::string, Markup>>& pairs);

}  // namespace gpuward::html
