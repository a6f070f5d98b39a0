#include "remediator/tell/page/runbooks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/html/page.h"
#include "core/html/parts.h"
#include "core/runtime/clock.h"
#include "remediator/tell/page/menu.h"

namespace gpuward::remediator {
namespace {

#include "remediator/tell/page/runbooks.inc"

constexpr std::string_view kPath = "/runbooks";

using html::element;
using html::Markup;

http::Response answer(const http::Request& request, const std::string& title, Markup body,
                      int status = 200) {
  // "/runbooks" is on the level of the other pages, and "/runbooks/" and its pages are one below.
  const std::string root = request.path == kPath ? "" : "../";
  return html::answer(request,
                      {.title = title + " - gpuward",
                       .root = root,
                       .program = "gpuward-remediator " GPUWARD_VERSION,
                       .nav = site_menu(),
                       .body = std::move(body),
                       .status = status},
                      lasting_clock().wall());
}

http::Response list_runbooks(const http::Request& request) {
  std::vector<std::vector<Markup>> rows;
  for (const Runbook& runbook : kRunbooks) {
    const std::string alert(runbook.alert);
    const std::string folder = request.path == kPath ? "runbooks/" : "";
    rows.push_back({html::link(folder + alert, alert), meaning_of(runbook)});
  }
  Markup body = element("h1", {"Runbooks"});
  body += html::table({{"Alert"}, {"Meaning"}}, rows);
  return answer(request, "Runbooks", std::move(body));
}

http::Response show_runbook(const http::Request& request) {
  std::string_view name = std::string_view(request.path).substr(kPath.size());
  if (name.empty() || name == "/") return list_runbooks(request);
  name.remove_prefix(1);
  if (name.ends_with(".md")) name.remove_suffix(3);
  const Runbook* runbook = find_runbook(name);
  if (runbook == nullptr)
    return answer(request, "No such runbook", element("h1", {"No such runbook"}), 404);
  return answer(request, std::string(runbook->alert), Markup::trusted(runbook->html));
}

}  // namespace

std::span<const Runbook> all_runbooks() { return kRunbooks; }

std::string meaning_of(const Runbook& runbook) {
  constexpr std::string_view kBlank = "\n\n";
  std::string_view text = runbook.markdown;
  text.remove_prefix(std::min(text.find(kBlank), text.size() - kBlank.size()) + kBlank.size());
  return std::string(text.substr(0, text.find(kBlank)));
}

const Runbook* find_runbook(std::string_view alert) {
  const auto* const found = std::ranges::find(kRunbooks, alert, &Runbook::alert);
  return found == kRunbooks.end() ? nullptr : found;
}

// Open to everyone, because the links of alerts lead here, and the runbooks are public anyway.
http::Route runbook_route() {
  return {.path = std::string(kPath),
          .methods = {"GET"},
          .handler = show_runbook,
          .match = http::Match::kPrefix};
}

}  // namespace gpuward::remediator
