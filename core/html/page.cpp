#include "core/html/page.h"

#include <cstdint>
#include <utility>

#include "core/html/assets.inc"
#include "core/runtime/gzip.h"
#include "core/runtime/text.h"

namespace gpuward::html {
namespace {

// A page cannot load from, post to or be framed by another site.
constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Markup head(const Page& page) {
  const std::string style = page.root + "page.css", script = page.root + "page.js";
  Markup made = Markup::trusted(
      "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>");
  made += element("title", {page.title});
  made += Markup::trusted("<link rel=\"stylesheet\" href=\"" + style + "\">");
  made += element("script", {{"src", script}, {"defer"}}, {});
  return made;
}

Markup navigation(const Page& page) {
  Markup links;
  for (const NavLink& one : page.nav) {
    const std::string address = page.root + one.address;
    links += link(address.empty() ? "./" : address, one.name);
    links += Markup::trusted(" ");
  }
  return element("header",
                 {element("a", {{"class", "skip"}, {"href", "#main"}}, {"Skip to content"}),
                  element("strong", {"gpuward"}), element("nav", {links})});
}

Markup footer(const Page& page, Clock::Wall now) {
  const std::string time = to_rfc3339(now);
  return element("footer", {element("span", {page.program}), ", ",
                            element("span", {{"id", "age"}},
                                    {"as of ", element("time", {{"datetime", time}}, {time})}),
                            " ", element("span", {{"id", "state"}, {"role", "status"}}, {})});
}

http::HeaderList headers_of(std::string tag) {
  return {{"ETag", std::move(tag)},
          {"Cache-Control", "no-cache"},
          {"Vary", "Accept-Encoding"},
          {"Content-Security-Policy", std::string(kContentSecurityPolicy)},
          {"Referrer-Policy", "no-referrer"}};
}

http::Response answer_unless_known(const http::Request& request, std::string tag, int status,
                                   const std::string& text, const std::string& type) {
  const bool is_known = request.header("If-None-Match") == tag;
  const std::string packed =
      !is_known && accepts_gzip(request.header("Accept-Encoding")) ? gzip(text) : std::string();
  auto response = is_known ? http::Response::text(304, "")
                           : http::Response::text(status, packed.empty() ? text : packed, type);
  response.headers = headers_of(std::move(tag));
  if (!packed.empty()) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

std::string tag_of(std::string_view text) { return "\"" + short_hash(text) + "\""; }

http::Route asset(std::string path, std::string_view text, std::string type) {
  return {.path = std::move(path),
          .methods = {"GET"},
          .handler =
              [text, type = std::move(type), tag = tag_of(text)](const http::Request& one) {
                return answer_unless_known(one, tag, 200, std::string(text), type);
              },
          .audience = http::Audience::kBrowsers};
}

}  // namespace

http::Response answer(const http::Request& request, const Page& page, Clock::Wall now) {
  const Markup before = element("head", {head(page)});
  const Markup main = element("main", {{"id", "main"}}, {page.body});
  const Markup links = navigation(page);
  const std::string tag = tag_of(before.html() + links.html() + main.html());
  Markup whole = Markup::trusted("<!doctype html>\n");
  whole += element("html", {{"lang", "en"}},
                   {before, element("body", {links, main, footer(page, now)})});
  return answer_unless_known(request, tag, page.status, whole.html() + "\n",
                             "text/html; charset=utf-8");
}

std::vector<http::Route> asset_routes() {
  return {asset("/page.css", kPageCss, "text/css; charset=utf-8"),
          asset("/page.js", kPageJs, "text/javascript; charset=utf-8")};
}

// Whole minutes, so that a page changes only after an event.
std::string age_text(Clock::Wall since, Clock::Wall now) {
  constexpr std::int64_t kHour = 60, kDay = 24 * kHour;
  const std::int64_t minutes =
      std::chrono::duration_cast<std::chrono::minutes>(now - since).count();
  if (minutes < 1) return "under 1 min";
  if (minutes < kHour) return std::to_string(minutes) + " min";
  if (minutes < 2 * kDay) return std::to_string(minutes / kHour) + " h";
  return std::to_string(minutes / kDay) + " d";
}

Markup since(Clock::Wall at, Clock::Wall now) {
  const std::string time = to_rfc3339(at);
  return element("time", {{"datetime", time}, {"title", time}}, {age_text(at, now)});
}

}  // namespace gpuward::html
