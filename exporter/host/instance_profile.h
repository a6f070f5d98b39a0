// The hardware that a node of an instance type must have, in the format of the suite that gpuward
// replaces (instance-profiles.conf): `p5.48xlarge|8|32|true|efa`. Pure, except for reading the
// file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"

namespace gpuward::exporter {

struct InstanceProfile {
  std::string type;  // without "ml."
  unsigned gpus = 0;
  unsigned efa_devices = 0;
  bool expects_nvlink = false;
  std::string fabric_provider = "efa";
};

class InstanceProfiles {
 public:
  // The built-in tables: of the replaced suite (CONTRACTS: p4d.24xlarge to g6.xlarge), of other
  // clouds' types with NVIDIA's GPUs, and of machines by the names in their firmware.
  [[nodiscard]] static InstanceProfiles built_in();
  // kInvalid names `name` and the line. An empty text is an empty table. As in the replaced suite,
  // `#` begins a comment, and the first line of a type counts.
  [[nodiscard]] static Result<InstanceProfiles> parse(std::string_view text,
                                                      const std::string& name);

  // Adds a profile; it replaces one of the same type.
  void add(InstanceProfile profile);
  void add(const InstanceProfiles& more);
  // nullopt for a type without a profile. Strips "ml.".
  [[nodiscard]] std::optional<InstanceProfile> find(std::string_view type) const;
  // Finds the profile of a machine by the product name in its firmware, with blanks as `-` as in
  // the label nvidia.com/gpu.machine: "PowerEdge-XE9680"; or by its first word alone, because part
  // numbers follow it on a DGX ("DGXA100 920-23687-2530-000").
  [[nodiscard]] std::optional<InstanceProfile> find_machine(std::string_view product_name) const;
  [[nodiscard]] const std::vector<InstanceProfile>& all() const { return profiles_; }

 private:
  std::vector<InstanceProfile> profiles_;
};

}  // namespace gpuward::exporter
