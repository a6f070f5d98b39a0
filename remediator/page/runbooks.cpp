#include "remediator/page/runbooks.h"

#include <algorithm>
#include <array>

namespace gpuward::remediator {
namespace {

#include "remediator/page/runbooks.inc"

constexpr std::string_view kPath = "/runbooks";

std::string page(std::string_view title, std::string_view body) {
  std::string html =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>";
  html += title;
  html +=
      "</title><style>body{max-width:50em;margin:2em auto;padding:0 1em;font-family:sans-serif;"
      "line-height:1.5}code{background:#eee;overflow-wrap:anywhere}</style>\n";
  html += body;
  return html;
}

http::Response answer(const std::string& html) {
  return http::Response::text(200, html, "text/html; charset=utf-8");
}

http::Response list_runbooks() {
  std::string body = "<h1>Runbooks</h1>\n<ul>\n";
  for (const Runbook& runbook : kRunbooks) {
    const std::string alert(runbook.alert);
    body.append("<li><a href=\"/runbooks/").append(alert).append("\">");
    body.append(alert).append("</a>\n");
  }
  return answer(page("Runbooks", body + "</ul>\n"));
}

http::Response show_runbook(const http::Request& request) {
  std::string_view name = std::string_view(request.path).substr(kPath.size());
  if (name.empty() || name == "/") return list_runbooks();
  name.remove_prefix(1);
  if (name.ends_with(".md")) name.remove_suffix(3);
  const Runbook* runbook = find_runbook(name);
  if (runbook == nullptr) return http::Response::text(404, "no such runbook\n");
  return answer(page(runbook->alert, runbook->html));
}

}  // namespace

std::span<const Runbook> all_runbooks() { return kRunbooks; }

const Runbook* find_runbook(std::string_view alert) {
  const auto* const found = std::ranges::find(kRunbooks, alert, &Runbook::alert);
  return found == kRunbooks.end() ? nullptr : found;
}

http::Route runbook_route() {
  return {.path = std::string(kPath),
          .methods = {"GET"},
          .handler = show_runbook,
          .match = http::Match::kPrefix};
}

}  // namespace gpuward::remediator
