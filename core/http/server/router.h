// Which route answers a request: exact paths before prefixes, longer prefixes before shorter ones.
// Pure; used by the server for every request. There are no redirects: a path either matches or is
// not found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/http/server/server.h"

namespace gpuward::http {

struct RouteChoice {
  const Route* route = nullptr;  // null: answer `status`
  int status = 200;              // 404 or 405
  std::string allow;             // with 405: the value of Allow
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);
  // The route lives as long as the router.
  [[nodiscard]] RouteChoice choose(std::string_view method, std::string_view path) const;

 private:
  std::vector<Route> routes_;  // best match first
};

}  // namespace gpuward::http
