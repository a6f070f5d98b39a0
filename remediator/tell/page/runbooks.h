// The runbooks of alerts/runbooks, compiled in. The remediator serves them on the listener of its
// metrics, so that the link in an alert leads to the pages of the running version. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/http/server/server.h"

namespace gpuward::remediator {

struct Runbook {
  std::string_view alert;     // Name of the alert: "GpuFallenOffBus".
  std::string_view markdown;  // Content of the file.
  std::string_view html;      // The same text as HTML, converted by cmark, for a part of a page.
};

// Returns the runbooks by name.
[[nodiscard]] std::span<const Runbook> all_runbooks();
// Returns the sentence below the runbook's title.
[[nodiscard]] std::string meaning_of(const Runbook& runbook);
// Returns the runbook of the alert; null if there is none.
[[nodiscard]] const Runbook* find_runbook(std::string_view alert);

// Serves HTML: /runbooks has links to all runbooks, /runbooks/ALERT has one runbook, with or
// without `.md`.
[[nodiscard]] http::Route runbook_route();

}  // namespace gpuward::remediator
