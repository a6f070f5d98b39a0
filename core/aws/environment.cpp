#include "core/aws/environment.h"

#include <unistd.h>

#include <string_view>

#include "core/http/syntax/headers.h"

namespace gpuward::aws {

bool AwsEnvironment::says_true(const std::string& name) const {
  return http::same_name(at(name), "true");
}

AwsEnvironment read_aws_environment() {
  AwsEnvironment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name != "HOME" && !name.starts_with("AWS_")) continue;
    environment.variables.emplace(name, text.substr(equals + 1));
  }
  return environment;
}

}  // namespace gpuward::aws
