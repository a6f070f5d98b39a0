// alerts/alertmanager.yaml, as notifications.h applies it: routes, matchers and inhibitions.
#pragma once

#include <string>
#include <vector>

#include "tests/alerts/month/moments.h"

namespace gpuward::alerts {

class Matcher {
 public:
  // `node!=""`, `severity=~"critical|warning"`. Throws if the text is not a matcher.
  explicit Matcher(const std::string& text);
  [[nodiscard]] bool matches(const Labels& labels) const;

 private:
  std::string label_, value_;
  bool is_regex_ = false, is_negative_ = false;
};

using Matchers = std::vector<Matcher>;
[[nodiscard]] bool all_match(const Matchers& matchers, const Labels& labels);

struct Route {
  std::string receiver;
  Matchers matchers;
  std::vector<std::string> group_by;
  seconds group_wait{}, group_interval{}, repeat_interval{};
  bool goes_on = false;  // `continue`
};

struct Inhibition {
  Matchers source, target;
  std::vector<std::string> equal;
};

struct Routing {
  std::vector<Route> routes;  // in order; the last one matches all the rest
  std::vector<Inhibition> inhibitions;

  // The routes that match an alert.
  [[nodiscard]] std::vector<const Route*> routes_of(const Labels& labels) const;
};

// Throws if the text is not a configuration, or has routes below routes.
[[nodiscard]] Routing read_routing(const std::string& text);

}  // namespace gpuward::alerts
