// A key of an AWS account, as one source of credentials gives it. Never printed: what holds one has
// no to_string and stands in no message. Used inside core/aws.
#pragma once

#include <optional>
#include <string>

#include "core/runtime/clock.h"

namespace gpuward::aws {

struct AwsKeys {
  std::string access_key_id, secret_access_key;
  std::string session_token = {};  // empty for keys that last
  std::optional<Clock::Wall> expires = {};
};

}  // namespace gpuward::aws
