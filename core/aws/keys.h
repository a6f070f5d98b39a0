// A key of an AWS account from one source of credentials. It is never printed: a type that holds
// one has no to_string and appears in no message. Used inside core/aws.
#pragma once

#include <optional>
#include <string>

#include "core/runtime/clock.h"

namespace gpuward::aws {

struct AwsKeys {
  std::string access_key_id, secret_access_key;
  std::string session_token = {};  // empty for long-term keys
  std::optional<Clock::Wall> expires = {};
};

}  // namespace gpuward::aws
