// The pages in a real browser: the effect of their script, and what the server's headers forbid.
#include "tests/pages/browser.h"

#include <gmock/gmock.h>

#include <atomic>

#include "core/html/page.h"
#include "exporter/publish/node_page.h"
#include "tests/pages/scene.h"
#include "tests/support/require.h"
#include "tests/unit/core/http/test_server.h"
#include "tests/unit/exporter/publish/filled_snapshot.h"

namespace gpuward::pages {
namespace {

using html::element;
using html::Markup;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kFocusCheck =
    "document.querySelector('main a').focus();"
    "setTimeout(() => {"
    "  document.title = 'focus: ' + document.activeElement.getAttribute('href');"
    "}, 8000);";

// Answers the n-th request for the page with `page`.
class Pages {
 public:
  explicit Pages(std::function<http::Response(const http::Request&, int)> page)
      : server_(routes(std::move(page))) {}
  [[nodiscard]] std::string url() const { return server_.url("/"); }

 private:
  std::vector<http::Route> routes(
      const std::function<http::Response(const http::Request&, int)>& page) {
    auto all = html::asset_routes();
    const auto answer = [this, page](const http::Request& request) {
      return page(request, ++count_);
    };
    all.push_back({.path = "/", .methods = {"GET"}, .handler = answer});
    // A page of a test may have a script beside it.
    const auto script = [](const http::Request&) {
      return http::Response::text(200, std::string(kFocusCheck), "text/javascript");
    };
    all.push_back({.path = "/check.js", .methods = {"GET"}, .handler = script});
    return all;
  }

  std::atomic<int> count_ = 0;
  http::TestServer server_;
};

http::Response page_with(const http::Request& request, Markup body) {
  return html::answer(
      request,
      {.title = "a test", .root = "", .program = "gpuward", .nav = {}, .body = std::move(body)},
      SystemClock().wall());
}

TEST(PageInABrowser, ShowsWhatIsNewByItself) {
  GPUWARD_REQUIRE(why_no_browser());
  const Pages pages([](const http::Request& request, int count) {
    return page_with(request, "look " + std::to_string(count));
  });
  const std::string text = dom_after(pages.url(), 12s);
  EXPECT_THAT(text, ContainsRegex("<main id=\"main\">look [23]</main>"));
  EXPECT_THAT(text, Not(HasSubstr("OLD")));
}

TEST(PageInABrowser, SaysThatItIsOldOnceTheServerDoesNotAnswer) {
  GPUWARD_REQUIRE(why_no_browser());
  const Pages pages([](const http::Request& request, int count) {
    return count == 1 ? page_with(request, "look 1") : http::Response::text(500, "no");
  });
  EXPECT_THAT(dom_after(pages.url(), 12s),
              AllOf(HasSubstr("look 1"), HasSubstr("OLD: the server has not answered since then."),
                    HasSubstr("class=\"old\"")));
}

// A screen reader speaks each text that the region gets.
TEST(PageInABrowser, SpeaksOfChangesOnly) {
  GPUWARD_REQUIRE(why_no_browser());
  const Pages same([](const http::Request& request, int count) {
    Markup body = "steady ";
    body += element("time", {std::to_string(count) + " min"});
    return page_with(request, body);
  });
  EXPECT_THAT(dom_after(same.url(), 12s),
              AllOf(HasSubstr("<span id=\"state\" role=\"status\"></span>"),
                    ContainsRegex("<time>[23] min</time>"), HasSubstr("as of 20")));
  const Pages changing([](const http::Request& request, int count) {
    return page_with(request, element("p", {{"class", "verdict"}},
                                      {count == 1 ? "Not known." : "Unhealthy: 1."}));
  });
  EXPECT_THAT(dom_after(changing.url(), 12s),
              ContainsRegex("role=\"status\">Changed at [0-9TZ:-]+. Unhealthy: 1.</span>"));
}

TEST(PageInABrowser, IsCheckedByRulesThatFindSomething) {
  GPUWARD_REQUIRE(why_no_rules());
  auto routes = html::asset_routes();
  const auto page = [](const http::Request& request) {
    return page_with(request, Markup::trusted("<h1>x</h1><img src=\"x\">"));
  };
  routes.push_back({.path = "/", .methods = {"GET"}, .handler = page});
  const http::TestServer server(self_checking(std::move(routes)));
  EXPECT_THAT(violations_of(server.url("/"), {}).value_or(""), HasSubstr("image-alt: "));
}

// All rules of axe-core, for each form of a page.
class PageForEverybody : public ::testing::TestWithParam<std::vector<std::string>> {};

INSTANTIATE_TEST_SUITE_P(Looks, PageForEverybody,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{
                                               "--blink-settings=preferredColorScheme=0"},
                                           std::vector<std::string>{"--window-size=390,844"}));

TEST_P(PageForEverybody, HasNoViolationOfAxeCore) {
  GPUWARD_REQUIRE(why_no_rules());
  const auto expect_clean = [](const std::string& url) {
    EXPECT_EQ(violations_of(url, GetParam()), "") << url;
  };
  for (const char* scene : {"empty", "busy", "broken"}) {
    const Scene served(scene_size(scene), self_checking);
    expect_clean(served.url());
    if (std::string_view(scene) != "busy") continue;
    for (const std::string& page :
         {"nodes/" + Scene::node(), "nodes/" + Scene::cancelled_node(), std::string("nodes/none"),
          "remediations/" + Scene::remediation(), std::string("policy"), std::string("runbooks"),
          std::string("runbooks/GpuFallenOffBus"), std::string("runbooks/GpuPagesRetired")})
      expect_clean(served.url() + page);
  }
}

TEST_P(PageForEverybody, HasNoViolationOfAxeCoreOnTheExportersPage) {
  GPUWARD_REQUIRE(why_no_rules());
  for (const auto& snapshot : {exporter::filled_snapshot(8), exporter::Snapshot()}) {
    auto routes = html::asset_routes();
    const auto page = [&snapshot](const http::Request& request) {
      return page_with(request, exporter::node_page(snapshot, "gpu-7", SystemClock().wall()));
    };
    routes.push_back({.path = "/", .methods = {"GET"}, .handler = page});
    const http::TestServer server(self_checking(std::move(routes)));
    EXPECT_EQ(violations_of(server.url("/"), GetParam()), "");
  }
}

TEST(PageInABrowser, KeepsTheFocusOfALinkOverANewPage) {
  GPUWARD_REQUIRE(why_no_browser());
  const Pages pages([](const http::Request& request, int count) {
    Markup body = html::link("nodes/gpu-1", "look " + std::to_string(count));
    body += Markup::trusted("<script src=\"check.js\"></script>");
    return page_with(request, body);
  });
  EXPECT_THAT(dom_after(pages.url(), 9s),
              AllOf(HasSubstr("look 2"), HasSubstr("<title>focus: nodes/gpu-1</title>")));
}

// In case text ever gets past the escaping.
TEST(PageInABrowser, RunsNoScriptThatStandsInIt) {
  GPUWARD_REQUIRE(why_no_browser());
  const Pages pages([](const http::Request& request, int) {
    return page_with(request, Markup::trusted("<script>document.title = 'run'</script>"
                                              "<img src=x onerror=\"document.title = 'run'\">"));
  });
  EXPECT_THAT(dom_after(pages.url(), 2s), HasSubstr("<title>a test</title>"));
}

TEST(PageInABrowser, OffersToCopyTheCommands) {
  GPUWARD_REQUIRE(why_no_browser());
  const Scene scene(scene_size("busy"));
  EXPECT_THAT(
      dom_after(scene.url() + "remediations/" + Scene::remediation(), 1s),
      HasSubstr("gpuwardctl approve gpu-001 7f3a9c</code> <button aria-label=\"copy: gpuwardctl "
                "approve gpu-001 7f3a9c\">copy</button>"));
}

// Each page of each scene is a whole document with its own heading, and all its links lead to
// existing targets.
TEST(PageInABrowser, LinksToNothingThatIsNotThere) {
  GPUWARD_REQUIRE(why_no_browser());
  const Scene scene(scene_size("broken"));
  const std::string text = dom_after(scene.url(), 1s);
  EXPECT_THAT(text, AllOf(HasSubstr("▲ none: no steps are taken"), HasSubstr("▲ STOPPED"),
                          HasSubstr("▲ OPEN since")));
  http::CurlClient client;
  std::size_t followed = 0;
  const std::string mark = "href=\"";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    const std::string address = text.substr(begin, text.find('"', begin) - begin);
    if (address.starts_with("#")) continue;
    const auto answer = client.send(http::get_request(scene.url() + address));
    ASSERT_TRUE(answer) << address;
    EXPECT_EQ(answer->status, 200) << address;
    ++followed;
  }
  EXPECT_GT(followed, 20U);
}

}  // namespace
}  // namespace gpuward::pages
