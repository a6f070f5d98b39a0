// The instance type as the EC2 instance metadata service (IMDS) gives it. Inside exporter/host
// only.
#pragma once

#include <string>
#include <string_view>

#include "core/http/client.h"
#include "core/model/result.h"

namespace gpuward::exporter {

// `base` is http://169.254.169.254 but in tests. Each takes 2 s at most.
[[nodiscard]] Result<std::string> ask_metadata_v1(const std::string& base, http::Client& client);

struct MetadataV2Failure {
  Error error;
  bool allows_v1 = false;  // version 1 may still answer
};

// A token first, then the type.
[[nodiscard]] std::expected<std::string, MetadataV2Failure> ask_metadata_v2(const std::string& base,
                                                                            http::Client& client);

// `p5.48xlarge`, `ml.p5.48xlarge`, `u-6tb1.112xlarge`: a page of HTML is none.
[[nodiscard]] bool is_ec2_instance_type(std::string_view text);

}  // namespace gpuward::exporter
