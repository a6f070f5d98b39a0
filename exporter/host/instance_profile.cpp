#include "exporter/host/instance_profile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr unsigned kMostDevices = 1024;

// CONTRACTS A, Instance profiles.
constexpr std::string_view kBuiltIn =
    "p4d.24xlarge|8|4|true|efa\n"
    "p4de.24xlarge|8|4|true|efa\n"
    "p5.48xlarge|8|32|true|efa\n"
    "p5e.48xlarge|8|32|true|efa\n"
    "p5en.48xlarge|8|16|true|efa\n"
    "p6-b200.48xlarge|8|8|true|efa\n"
    "g6.48xlarge|8|1|false|efa\n"
    "g6.xlarge|1|0|false|efa\n";

// SageMaker HyperPod writes its types with this in front.
std::string_view without_prefix(std::string_view type) {
  constexpr std::string_view kHyperPod = "ml.";
  return type.starts_with(kHyperPod) ? type.substr(kHyperPod.size()) : type;
}

std::optional<InstanceProfile> parse_line(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto bar = line.find('|');
    if ((bar == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = trim(line.substr(0, bar));
    if (bar != std::string_view::npos) line.remove_prefix(bar + 1);
  }
  const auto gpus = parse_integer<unsigned>(fields[1]);
  const auto efa = parse_integer<unsigned>(fields[2]);
  const bool is_flag = fields[3] == "true" || fields[3] == "false";
  if (fields[0].empty() || !gpus || *gpus > kMostDevices || !efa || *efa > kMostDevices || !is_flag)
    return std::nullopt;
  return InstanceProfile{std::string(without_prefix(fields[0])), *gpus, *efa, fields[3] == "true",
                         std::string(fields[4])};
}

}  // namespace

InstanceProfiles InstanceProfiles::built_in() {
  return parse(kBuiltIn, "built-in").value_or(InstanceProfiles());
}

Result<InstanceProfiles> InstanceProfiles::parse(std::string_view text, std::string name) {
  InstanceProfiles profiles;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    auto profile = parse_line(line);
    if (!profile) {
      return fail(ErrorKind::kInvalid,
                  name + ":" + std::to_string(number) +
                      ": is not `type|gpus|efa devices|nvlink true or false|provider`");
    }
    profiles.add(*std::move(profile));
  }
  return profiles;
}

void InstanceProfiles::add(InstanceProfile profile) {
  profile.type = without_prefix(profile.type);
  const auto known = std::ranges::find(profiles_, profile.type, &InstanceProfile::type);
  if (known == profiles_.end()) {
    profiles_.push_back(std::move(profile));
  } else {
    *known = std::move(profile);
  }
}

void InstanceProfiles::add(const InstanceProfiles& more) {
  for (const InstanceProfile& profile : more.all()) add(profile);
}

std::optional<InstanceProfile> InstanceProfiles::find(std::string_view type) const {
  const auto known = std::ranges::find(profiles_, without_prefix(type), &InstanceProfile::type);
  if (known == profiles_.end()) return std::nullopt;
  return *known;
}

}  // namespace gpuward::exporter
