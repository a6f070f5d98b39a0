// A page for people, as both programs serve them: whole without scripts, refreshed every five
// seconds with one, nothing from anywhere else. Links are relative, so that a page is served by
// `kubectl proxy` and a port-forward as well.
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

// 304 where the browser has it already: what was rendered when is no part of that.
[[nodiscard]] http::Response answer(const http::Request& request, const Page& page,
                                    Clock::Wall now);

// page.css and page.js.
[[nodiscard]] std::vector<http::Route> asset_routes();

// "under 1 min", "5 min", "3 h", "2 d": how long something has been so.
[[nodiscard]] std::string age_text(Clock::Wall since, Clock::Wall now);
// <time>, with how long ago.
[[nodiscard]] Markup since(Clock::Wall at, Clock::Wall now);

}  // namespace gpuward::html
