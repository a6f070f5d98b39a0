// The runbooks of alerts/runbooks, compiled in: the remediator serves them where it serves its
// metrics, so that the link in an alert leads to the pages of the version that runs. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/http/server/server.h"

namespace gpuward::remediator {

struct Runbook {
  std::string_view alert;     // its name: "GpuFallenOffBus"
  std::string_view markdown;  // the file
  std::string_view html;      // the same, made by cmark: a part of a page
};

// By name.
[[nodiscard]] std::span<const Runbook> all_runbooks();
// The sentence below its title.
[[nodiscard]] std::string meaning_of(const Runbook& runbook);
// Null where there is none.
[[nodiscard]] const Runbook* find_runbook(std::string_view alert);

// /runbooks: links to all; /runbooks/ALERT, with or without `.md`: one of them. HTML.
[[nodiscard]] http::Route runbook_route();

}  // namespace gpuward::remediator
