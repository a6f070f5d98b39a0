// The elements of the pages of both programs: tables, lists of facts, severities, commands to copy.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/html/markup.h"

namespace gpuward::html {

// "● monitor", "◆ reset", "▲ reboot", "■ isolate": a shape, a word and a colour.
[[nodiscard]] Markup severity_mark(std::string_view severity);
// A fault that needs an operator's attention.
[[nodiscard]] Markup alarm(const Markup& text);
[[nodiscard]] Markup well(const Markup& text);
// A command to copy into a shell.
[[nodiscard]] Markup command(std::string_view text);
// A sentence that replaces an empty table.
[[nodiscard]] Markup note(const Markup& text);

struct Column {
  std::string head;
  bool is_number = false;
};

// Omits a column without any content; on a phone each row is a block.
[[nodiscard]] Markup table(const std::vector<Column>& columns,
                           const std::vector<std::vector<Markup>>& rows);

// Names and values; omits a name without a value.
[[nodiscard]] Markup facts(const std::vector<std::pair<std::string, Markup>>& pairs);

}  // namespace gpuward::html
