// The names under which a server serves pages for browsers (Audience::kBrowsers). Others are
// refused: a page of a stranger can make its own name lead to any address, but neither to an
// address in figures nor to a name that strangers cannot have. Pure but for the machine's name,
// which is read once. Used by the server.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::http {

class PageHosts {
 public:
  // `names`: "gpuward.example", whatever their case; "*" accepts every name.
  explicit PageHosts(const std::vector<std::string>& names);

  // "HOST[:PORT]". Besides the names: addresses, localhost and names below it, the machine's own
  // host name, and names of Services (NAME.NAMESPACE.svc, also with cluster.local), which no public
  // name server has. Empty is accepted: every browser sends a Host.
  [[nodiscard]] bool accepts(std::string_view authority) const;

 private:
  std::set<std::string> names_;
  bool accepts_all_ = false;
};

}  // namespace gpuward::http
