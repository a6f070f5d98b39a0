#include <algorithm>
#include <array>

#include "remediator/cloud/command_provider.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {
namespace {

template <typename Provider>
std::unique_ptr<CloudProvider> make(const ProviderParts& parts) {
  return std::make_unique<Provider>(parts);
}

struct ProviderEntry {
  std::string_view name;
  std::unique_ptr<CloudProvider> (*make)(const ProviderParts& parts);
};

constinit const std::array<ProviderEntry, 1> kProviders = {{
    {"command", make<CommandProvider>},
}};

}  // namespace

std::unique_ptr<CloudProvider> make_provider(std::string_view name, const ProviderParts& parts) {
  const auto found = std::ranges::find(kProviders, name, &ProviderEntry::name);
  return found == kProviders.end() ? nullptr : found->make(parts);
}

}  // namespace gpuward::remediator
