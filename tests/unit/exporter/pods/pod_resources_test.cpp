#include "exporter/pods/pod_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "tests/places.inc"

namespace gpuward::exporter {
namespace {

using testing::ElementsAre;
using testing::Key;

std::string unhex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  hex = trim(hex);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

// Bytes of the official encoder: tests/testdata/pod_resources.
std::string sample() {
  const auto hex =
      read_file(std::string(GPUWARD_SOURCE_DIR) + "/tests/testdata/pod_resources/list.hex");
  EXPECT_TRUE(hex.has_value());
  return unhex(hex.value_or(""));
}

// Encodes a field of bytes as on the wire; for at most 127 bytes.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
         bytes;
}

TEST(PodResources, SayWhichContainerHasWhichGpu) {
  const auto workloads = parse_pod_resources(sample());

  ASSERT_TRUE(workloads.has_value()) << workloads.error().message;
  EXPECT_TRUE(workloads->is_known);
  EXPECT_THAT(workloads->by_device,
              ElementsAre(Key("GPU-6f1c2a44-0000-4000-8000-000000000000"),
                          Key("GPU-6f1c2a44-0000-4000-8000-000000000001"),
                          Key("MIG-1b2c3d44-0000-4000-8000-000000000007"), Key("nvidia3")));
  EXPECT_THAT(workloads->by_device.at("GPU-6f1c2a44-0000-4000-8000-000000000001"),
              ElementsAre(Workload{"team-a", "train-0", "worker"}));
  EXPECT_THAT(workloads->by_device.at("nvidia3"),
              ElementsAre(Workload{"team-b", "notebook", "main"}));
}

TEST(PodResources, AreKnownAndEmptyIfNoPodRuns) {
  const auto workloads = parse_pod_resources("");

  ASSERT_TRUE(workloads.has_value());
  EXPECT_TRUE(workloads->is_known);
  EXPECT_TRUE(workloads->by_device.empty());
}

TEST(PodResources, NameEachUserOfASharedGpuOnce) {
  const auto container = field(1, "c") +
                         field(2, field(1, "nvidia.com/gpu") + field(2, "GPU-1::0")) +
                         field(2, field(1, "nvidia.com/gpu") + field(2, "GPU-1::1"));
  const std::string message = field(1, field(1, "pod-b") + field(2, "ns") + field(3, container)) +
                              field(1, field(1, "pod-a") + field(2, "ns") + field(3, container));

  const auto workloads = parse_pod_resources(message);

  ASSERT_TRUE(workloads.has_value());
  EXPECT_THAT(workloads->by_device.at("GPU-1"),
              ElementsAre(Workload{"ns", "pod-a", "c"}, Workload{"ns", "pod-b", "c"}));
}

TEST(PodResources, MayHaveTheirFieldsInAnyOrder) {
  const std::string devices = field(2, "GPU-1") + field(1, "nvidia.com/gpu");
  const std::string container = field(2, devices) + field(1, "c");
  const std::string message = field(1, field(3, container) + field(2, "ns") + field(1, "pod"));

  const auto workloads = parse_pod_resources(message);

  ASSERT_TRUE(workloads.has_value());
  EXPECT_THAT(workloads->by_device.at("GPU-1"), ElementsAre(Workload{"ns", "pod", "c"}));
}

TEST(PodResources, AreRefusedWhereverTheyBreakOffInsideAField) {
  const std::string message = sample();
  std::size_t refused = 0;
  for (std::size_t length = 0; length < message.size(); ++length) {
    const auto workloads = parse_pod_resources(message.substr(0, length));
    if (!workloads) {
      EXPECT_EQ(workloads.error().kind, ErrorKind::kInvalid);
      ++refused;
    }
  }

  EXPECT_EQ(refused, message.size() - 4) << "but between two of its four pods it is a list too";
}

TEST(PodResources, AreNeverMoreThanANodeCanHave) {
  std::string message;
  for (int i = 0; i < 5000; ++i) {
    const auto devices = field(1, "nvidia.com/gpu") + field(2, "GPU-" + std::to_string(i));
    message += field(1, field(3, field(2, devices)));
  }

  const auto workloads = parse_pod_resources(message);

  ASSERT_FALSE(workloads.has_value());
  EXPECT_EQ(workloads.error().kind, ErrorKind::kTooLarge);
}

TEST(PodResources, HaveOnlyTextInTheirNames) {
  const auto devices = field(1, "nvidia.com/gpu") + field(2, "GPU-1");
  const auto container = field(1, "c\xff\n") + field(2, devices);

  const auto workloads = parse_pod_resources(field(1, field(3, container)));

  ASSERT_TRUE(workloads.has_value());
  EXPECT_TRUE(is_valid_utf8(workloads->by_device.at("GPU-1").front().container));
}

}  // namespace
}  // namespace gpuward::exporter
