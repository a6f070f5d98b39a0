#include "core/http/server/router.h"

#include <algorithm>
#include <utility>

namespace gpuward::http {
namespace {

bool matches(const Route& route, std::string_view path) {
  if (path == route.path) return true;
  if (route.match == Match::kExact || !path.starts_with(route.path)) return false;
  return route.path.ends_with('/') || path[route.path.size()] == '/';
}

bool takes(const Route& route, std::string_view method) {
  const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
  return std::ranges::any_of(route.methods, [&](const std::string& offered) {
    return offered == wanted || offered == method;
  });
}

bool is_better(const Route& left, const Route& right) {
  if (left.match != right.match) return left.match == Match::kExact;
  return left.path.size() > right.path.size();
}

void add_allowed(const Route& route, std::string& allow) {
  for (const std::string& method : route.methods) {
    if (!allow.empty()) allow += ", ";
    allow += method;
    if (method == "GET") allow += ", HEAD";
  }
}

}  // namespace

Router::Router(std::vector<Route> routes) {
  for (Route& route : routes) {
    routes_.insert(std::ranges::upper_bound(routes_, route, is_better), std::move(route));
  }
}

RouteChoice Router::choose(std::string_view method, std::string_view path) const {
  const Route* best = nullptr;  // of the right path, whatever its methods
  RouteChoice choice;
  for (const Route& route : routes_) {
    if (!matches(route, path)) continue;
    if (best == nullptr) best = &route;
    // Only routes of the same path share their methods: a broader prefix does not answer for a
    // better one.
    if (route.path != best->path || route.match != best->match) break;
    if (takes(route, method)) {
      choice.route = &route;
      return choice;
    }
    add_allowed(route, choice.allow);
  }
  choice.status = best == nullptr ? 404 : 405;
  return choice;
}

}  // namespace gpuward::http
