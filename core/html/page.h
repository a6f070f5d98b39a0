// A page for people, as both programs serve it. It is complete without scripts; a script refreshes
// it every five seconds. It loads nothing from other hosts. Links are relative, so that the page
// also works through `kubectl proxy` and a port-forward.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/html/markup.h"
#include "core/http/server/server.h"
#include "core/runtime/clock.h"

namespace gpuward::html {

struct NavLink {
  std::string address, name;  // relative to the program's root: "policy"
};

struct Page {
  std::string title;
  std::string root = {};  // from the page to the program's root: "", "../"
  std::string program;    // "gpuward-remediator 0.1.0"
  std::vector<NavLink> nav;
  Markup body;
  int status = 200;
};

// Returns 304 if the browser already has the page; the time of rendering does not count.
[[nodiscard]] http::Response answer(const http::Request& request, const Page& page,
                                    Clock::Wall now);

// page.css and page.js.
[[nodiscard]] std::vector<http::Route> asset_routes();

// "under 1 min", "5 min", "3 h", "2 d": the time since `since`.
[[nodiscard]] std::string age_text(Clock::Wall since, Clock::Wall now);
// A <time> element with the age.
[[nodiscard]] Markup since(Clock::Wall at, Clock::Wall now);

}  // namespace gpuward::html
