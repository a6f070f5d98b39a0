#include "core/aws/endpoint.h"

#include <gtest/gtest.h>

namespace gpuward::aws {
namespace {

AwsEnvironment with(std::map<std::string, std::string> variables) {
  return {.variables = std::move(variables)};
}

TEST(Endpoint, IsTheServiceInItsRegionAndPartition) {
  EXPECT_EQ(endpoint_of({}, kEc2, "eu-west-1"), "https://ec2.eu-west-1.amazonaws.com");
  EXPECT_EQ(endpoint_of({}, kCloudWatch, "us-gov-west-1"),
            "https://monitoring.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(endpoint_of({}, kAutoScaling, "cn-north-1"),
            "https://autoscaling.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(endpoint_of({}, kSts, "us-iso-east-1"), "https://sts.us-iso-east-1.c2s.ic.gov");
}

TEST(Endpoint, OfOneServiceWinsOverTheOneOfAll) {
  const auto environment = with({{"AWS_ENDPOINT_URL", "https://all.example/"},
                                 {"AWS_ENDPOINT_URL_AUTO_SCALING", "http://127.0.0.1:5000"}});
  EXPECT_EQ(endpoint_of(environment, kAutoScaling, "eu-west-1"), "http://127.0.0.1:5000");
  EXPECT_EQ(endpoint_of(environment, kEc2, "eu-west-1"), "https://all.example");
}

TEST(Endpoint, CanBeToldToIgnoreTheEnvironment) {
  const auto environment = with({{"AWS_ENDPOINT_URL", "https://all.example"},
                                 {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True"}});
  EXPECT_EQ(endpoint_of(environment, kEc2, "eu-west-1"), "https://ec2.eu-west-1.amazonaws.com");
}

TEST(Endpoint, InTheClearIsOnThisMachineOnly) {
  const auto refused =
      endpoint_of(with({{"AWS_ENDPOINT_URL_EC2", "http://10.0.0.1:80"}}), kEc2, "x1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().message,
            "AWS_ENDPOINT_URL_EC2 uses plain HTTP to another machine: use https://");
  EXPECT_TRUE(endpoint_of(with({{"AWS_ENDPOINT_URL", "http://[::1]:80"}}), kEc2, "x1"));
  EXPECT_FALSE(endpoint_of(with({{"AWS_ENDPOINT_URL", "http://127.evil.example"}}), kEc2, "x1"));
}

TEST(Endpoint, WhatIsNoRegionGoesIntoNoHostName) {
  for (const char* const region : {"", "EU", "a.b", "evil.example/", "a@b", "-a", "eu west"}) {
    EXPECT_FALSE(endpoint_of({}, kEc2, region)) << region;
  }
}

}  // namespace
}  // namespace gpuward::aws
