// Headless Chromium, one run a page: what a reader gets to see. Everything that it writes is in a
// folder of its own, and it is ended with its run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/http/server/server.h"

namespace gpuward::pages {

// Empty where a browser is there.
[[nodiscard]] std::string why_no_browser();

// The document as it stands after so long a time of the page's own clock, which runs as fast as it
// can: timers of ten seconds cost none.
[[nodiscard]] std::string dom_after(const std::string& url, std::chrono::seconds time,
                                    const std::vector<std::string>& more_flags = {});

// Empty if the rules of axe-core are there (tests/neighbours).
[[nodiscard]] std::string why_no_rules();
// The same routes, whose pages also load axe-core and check themselves with it.
[[nodiscard]] std::vector<http::Route> self_checking(std::vector<http::Route> routes);
// A line for each violation that such a page finds in itself; nullopt if it did not end.
[[nodiscard]] std::optional<std::string> violations_of(const std::string& url,
                                                       const std::vector<std::string>& more_flags);

}  // namespace gpuward::pages
