#include "core/http/server/page_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/http/syntax/host.h"

namespace gpuward::http {
namespace {

constexpr std::array<std::string_view, 3> kPrivateDomains{".localhost", ".svc",
                                                          ".svc.cluster.local"};

// "gpu-7" or "gpu-7.example.com", as the machine calls itself.
std::string own_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? host_of(name.data()) : std::string();
}

}  // namespace

PageHosts::PageHosts(const std::vector<std::string>& names) {
  const std::string own = own_name();
  names_ = {"localhost", own, own.substr(0, own.find('.'))};
  for (const std::string& name : names) {
    accepts_all_ = accepts_all_ || name == "*";
    names_.insert(host_of(name));
  }
  names_.erase("");
}

bool PageHosts::accepts(std::string_view authority) const {
  if (accepts_all_ || authority.empty()) return true;
  const std::string host = host_of(authority);
  return is_address(host) || names_.contains(host) ||
         std::ranges::any_of(kPrivateDomains,
                             [&](std::string_view domain) { return host.ends_with(domain); });
}

}  // namespace gpuward::http
