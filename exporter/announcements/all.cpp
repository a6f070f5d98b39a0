#include <algorithm>
#include <array>

#include "core/runtime/attribute.h"
#include "exporter/announcements/aws_cloud.h"
#include "exporter/announcements/azure_cloud.h"
#include "exporter/announcements/cloud.h"
#include "exporter/announcements/gce_cloud.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kClouds = {aws_cloud, gce_cloud, azure_cloud};

bool is_there(const FirmwareSign& sign, const HostPaths& host) {
  const auto text = read_attribute(host.sys / "class/dmi/id" / sign.attribute);
  return text && (sign.is_end ? text->ends_with(sign.text) : *text == sign.text);
}

}  // namespace

std::vector<Cloud> all_clouds() {
  std::vector<Cloud> clouds;
  for (const auto make : kClouds) clouds.push_back(make());
  return clouds;
}

std::optional<Cloud> cloud_of(const HostPaths& host) {
  for (Cloud& cloud : all_clouds()) {
    const bool is_it = std::ranges::any_of(
        cloud.signs, [&](const FirmwareSign& sign) { return is_there(sign, host); });
    if (is_it) return std::move(cloud);
  }
  return std::nullopt;
}

std::optional<Cloud> cloud_named(std::string_view name) {
  for (Cloud& cloud : all_clouds()) {
    if (cloud.name == name) return std::move(cloud);
  }
  return std::nullopt;
}

}  // namespace gpuward::exporter
