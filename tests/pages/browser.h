// Headless Chromium, one run a page: what a reader gets to see. Everything that it writes is in a
// folder of its own, and it is ended with its run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gpuward::pages {

// Empty where a browser is there.
[[nodiscard]] std::string why_no_browser();

// The document as it stands after so long a time of the page's own clock, which runs as fast as it
// can: timers of ten seconds cost none.
[[nodiscard]] std::string dom_after(const std::string& url, std::chrono::seconds time,
                                    const std::vector<std::string>& more_flags = {});

}  // namespace gpuward::pages
