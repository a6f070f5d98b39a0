#include "core/aws/endpoint.h"

#include <algorithm>

#include "core/http/client/target.h"
#include "core/http/syntax/host.h"

namespace gpuward::aws {
namespace {

// By partition (botocore/data/partitions.json): China, the isolated ones, the European sovereign.
std::string_view domain_of(std::string_view region) {
  if (region.starts_with("cn-")) return "amazonaws.com.cn";
  if (region.starts_with("us-iso-")) return "c2s.ic.gov";
  if (region.starts_with("us-isob-")) return "sc2s.sgov.gov";
  if (region.starts_with("eusc-")) return "amazonaws.eu";
  return "amazonaws.com";
}

std::string configured_endpoint(const AwsEnvironment& environment, const AwsService& service,
                                std::string& variable) {
  if (environment.says_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")) return {};
  variable = "AWS_ENDPOINT_URL_" + std::string(service.variable);
  std::string url = environment.at(variable);
  if (!url.empty()) return url;
  variable = "AWS_ENDPOINT_URL";
  return environment.at(variable);
}

}  // namespace

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 40 && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

bool has_own_endpoint(const AwsEnvironment& environment, const AwsService& service) {
  std::string variable;
  return !configured_endpoint(environment, service, variable).empty();
}

Result<std::string> endpoint_of(const AwsEnvironment& environment, const AwsService& service,
                                std::string_view region) {
  if (!is_region(region))
    return fail(ErrorKind::kInvalid, "not an AWS region: " + std::string(region));
  std::string variable;
  std::string url = configured_endpoint(environment, service, variable);
  if (url.empty()) {
    return "https://" + std::string(service.host) + "." + std::string(region) + "." +
           std::string(domain_of(region));
  }
  const auto target = http::parse_target(url);
  if (!target) return with_context(variable, target.error());
  if (!target->is_tls && !http::is_loopback(http::host_of(target->host))) {
    return fail(ErrorKind::kInvalid,
                variable + " uses plain HTTP to another machine: use https://");
  }
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace gpuward::aws
