#include "tests/pages/browser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/runtime/files.h"
#include "tests/support/neighbours.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::pages {
namespace {

constexpr support::Neighbour kAxe = support::neighbour("axe");
constexpr const char* kRules = "axe.min.js";

// --dump-dom shows the result as an attribute of the body.
constexpr std::string_view kCheck = R"js(
axe.run().then((result) => {
  const lines = result.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${rule.help}: ${node.target} ${node.html}`));
  document.body.dataset.violations = lines.join("\n");
});
)js";

http::Route script(std::string path, std::string text) {
  return {.path = std::move(path),
          .methods = {"GET"},
          .handler = [text = std::move(text)](const http::Request&) {
            return http::Response::text(200, text, "text/javascript");
          }};
}

http::Response with_scripts(http::Response page) {
  constexpr std::string_view kEnd = "</body>";
  const auto end = page.body ? page.body->rfind(kEnd) : std::string::npos;
  if (end == std::string::npos || !page.content_type.starts_with("text/html")) return page;
  std::string text = *page.body;
  text.insert(end, R"(<script src="/axe.js"></script><script src="/check.js"></script>)");
  page.body = std::make_shared<const std::string>(std::move(text));
  return page;
}

}  // namespace

std::string why_no_browser() { return support::why_no_program("chromium"); }

std::string dom_after(const std::string& url, std::chrono::seconds time,
                      const std::vector<std::string>& more_flags) {
  const support::TempDir folder;
  std::vector<std::string> words = {
      support::find_program("chromium"),
      "--headless",
      "--no-sandbox",  // the tests may run as root, and read only their own pages
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--user-data-dir=" + folder.path().string(),
      "--virtual-time-budget=" + std::to_string(std::chrono::milliseconds(time).count()),
      "--dump-dom"};
  words.insert(words.end(), more_flags.begin(), more_flags.end());
  words.push_back(url);
  const auto run = support::Process::run({.argv = std::move(words)});
  if (!run) {
    ADD_FAILURE() << run.error().message;
    return {};
  }
  EXPECT_EQ(run->exit_code, 0) << run->error_output;
  return run->output;
}

std::string why_no_rules() {
  const std::string browser = why_no_browser();
  return browser.empty() ? support::why_not_built(kAxe, kRules) : browser;
}

std::vector<http::Route> self_checking(std::vector<http::Route> routes) {
  for (http::Route& route : routes) {
    route.handler = [handler = std::move(route.handler)](http::Request request) {
      std::erase_if(request.headers,
                    [](const auto& header) { return header.first == "Accept-Encoding"; });
      return with_scripts(handler(request));
    };
  }
  routes.push_back(script("/axe.js", read_file(support::folder_of(kAxe) / kRules).value_or("")));
  routes.push_back(script("/check.js", std::string(kCheck)));
  return routes;
}

std::optional<std::string> violations_of(const std::string& url,
                                         const std::vector<std::string>& more_flags) {
  constexpr std::string_view kBegin = "data-violations=\"";
  const std::string page = dom_after(url, std::chrono::seconds(3), more_flags);
  const auto at = page.find(kBegin);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + kBegin.size();
  return page.substr(begin, page.find('"', begin) - begin);
}

}  // namespace gpuward::pages
