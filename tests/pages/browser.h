// Headless Chromium, one run per page: what a reader sees. It writes only into its own folder, and
// ends with its run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/http/server/server.h"

namespace gpuward::pages {

// Empty if there is a browser.
[[nodiscard]] std::string why_no_browser();

// The document after that much time of the page's own clock, which runs as fast as it can: timers
// of ten seconds take no time.
[[nodiscard]] std::string dom_after(const std::string& url, std::chrono::seconds time,
                                    const std::vector<std::string>& more_flags = {});

// Empty if the rules of axe-core are there (tests/neighbours).
[[nodiscard]] std::string why_no_rules();
// The same routes; their pages also load axe-core and check themselves with it.
[[nodiscard]] std::vector<http::Route> self_checking(std::vector<http::Route> routes);
// A line for each violation that such a page finds in itself; nullopt if it did not end.
[[nodiscard]] std::optional<std::string> violations_of(const std::string& url,
                                                       const std::vector<std::string>& more_flags);

}  // namespace gpuward::pages
