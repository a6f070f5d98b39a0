// The runbooks of alerts/runbooks, compiled in. The remediator serves them on the listener of its
// metrics, so that the link in an alert leads to the pages of the running version. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/http/server/server.h"

namespace gpuward::remediator {

struct Runbook {
  std::string_view alert;     // its name: "GpuFallenOffBus"
  std::string_view markdown;  // the file
  std::string_view html;      // the same, converted by cmark: a part of a page
};

// Returns the runbooks by name.
[[nodiscard]] std::span<const Runbook> all_runbooks();
// Returns the sentence below its title.
[[nodiscard]] std::string meaning_of(const Runbook& runbook);
// Returns null if there is none.
[[nodiscard]] const Runbook* find_runbook(std::string_view alert);

// Serves /runbooks with links to all, and /runbooks/ALERT, with or without `.md`, with one of them.
// HTML.
[[nodiscard]] http::Route runbook_route();

}  // namespace gpuward::remediator
