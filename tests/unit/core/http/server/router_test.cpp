#include "core/http/server/router.h"

#include <gtest/gtest.h>

namespace gpuward::http {
namespace {

Route route(std::string path, std::vector<std::string> methods, Match match = Match::kExact) {
  return {std::move(path), std::move(methods), {}, Access::kOpen, match};
}

std::string chosen(const Router& router, std::string_view method, std::string_view path) {
  const RouteChoice choice = router.choose(method, path);
  return choice.route == nullptr ? std::to_string(choice.status) : choice.route->path;
}

TEST(Router, TakesExactPathsOnly) {
  const Router router({route("/metrics", {"GET"})});
  EXPECT_EQ(chosen(router, "GET", "/metrics"), "/metrics");
  for (const char* path : {"/", "/metrics/", "/metric", "/metricsx", "/metrics/x", "/Metrics"}) {
    EXPECT_EQ(chosen(router, "GET", path), "404") << path;
  }
}

TEST(Router, PrefixMatchesWholeSegments) {
  const Router router({route("/api", {"GET"}, Match::kPrefix)});
  EXPECT_EQ(chosen(router, "GET", "/api"), "/api");
  EXPECT_EQ(chosen(router, "GET", "/api/v1/nodes"), "/api");
  EXPECT_EQ(chosen(router, "GET", "/apis"), "404");
}

TEST(Router, RootPrefixMatchesEverything) {
  const Router router({route("/", {"GET"}, Match::kPrefix)});
  EXPECT_EQ(chosen(router, "GET", "/"), "/");
  EXPECT_EQ(chosen(router, "GET", "/a/b"), "/");
}

TEST(Router, ExactWinsOverPrefixAndLongPrefixOverShort) {
  const Router router({route("/", {"GET"}, Match::kPrefix),
                       route("/api/v1", {"GET"}, Match::kPrefix), route("/api/v1/nodes", {"GET"})});
  EXPECT_EQ(chosen(router, "GET", "/api/v1/nodes"), "/api/v1/nodes");
  EXPECT_EQ(chosen(router, "GET", "/api/v1/pods"), "/api/v1");
  EXPECT_EQ(chosen(router, "GET", "/api"), "/");
}

TEST(Router, HeadComesWithGet) {
  const Router router({route("/a", {"GET"}), route("/b", {"POST"})});
  EXPECT_EQ(chosen(router, "HEAD", "/a"), "/a");
  EXPECT_EQ(chosen(router, "HEAD", "/b"), "405");
}

TEST(Router, NamesAllAllowedMethodsOfAPath) {
  const Router router(
      {route("/a", {"GET"}), route("/a", {"POST"}), route("/", {"PUT"}, Match::kPrefix)});
  const RouteChoice choice = router.choose("DELETE", "/a");
  EXPECT_EQ(choice.status, 405);
  EXPECT_EQ(choice.allow, "GET, HEAD, POST");
}

TEST(Router, DoesNotFallBackToABroaderPrefix) {
  const Router router({route("/a", {"GET"}), route("/", {"PUT"}, Match::kPrefix)});
  EXPECT_EQ(chosen(router, "PUT", "/a"), "405");
}

TEST(Router, TwoRoutesShareAPathByMethod) {
  const Router router({route("/a", {"GET"}), route("/a", {"POST"})});
  EXPECT_EQ(router.choose("POST", "/a").route->methods.front(), "POST");
  EXPECT_EQ(router.choose("GET", "/a").route->methods.front(), "GET");
}

}  // namespace
}  // namespace gpuward::http
