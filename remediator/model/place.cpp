#include "remediator/model/place.h"

#include <algorithm>

#include "remediator/model/text_map.h"

namespace gpuward::remediator {

namespace {

std::string pool_of(const kube::Labels& labels, const PlaceKeys& keys) {
  const auto own = std::ranges::find_if(keys.own_pools, [&](const LabelledPool& pool) {
    return has_all_labels(labels, pool.labels);
  });
  if (own != keys.own_pools.end() && !own->name.empty()) return own->name;
  for (const std::string& key : keys.pool) {
    if (std::string value = value_at(labels, key); !value.empty()) return value;
  }
  return {};
}

// NVIDIA's driver reports this NVLink domain for a GPU that is in none.
constexpr std::string_view kNoClique = "00000000-0000-0000-0000-000000000000.";

bool is_domain(const std::string& value) { return !value.empty() && !value.starts_with(kNoClique); }

}  // namespace

bool has_label(const kube::Labels& labels, std::string_view selector) {
  const auto equals = selector.find('=');
  const auto found = labels.find(std::string(selector.substr(0, equals)));
  if (found == labels.end()) return false;
  return equals == std::string_view::npos || found->second == selector.substr(equals + 1);
}

bool has_all_labels(const kube::Labels& labels, const std::vector<std::string>& selectors) {
  return std::ranges::all_of(
      selectors, [&](const std::string& selector) { return has_label(labels, selector); });
}

Place place_of(const kube::Labels& labels, const PlaceKeys& keys) {
  Place place;
  place.pool = pool_of(labels, keys);
  place.zone = value_at(labels, keys.zone);
  for (const std::string& key : keys.domains) {
    if (std::string value = value_at(labels, key); is_domain(value))
      place.domains.emplace(key, std::move(value));
  }
  return place;
}

}  // namespace gpuward::remediator
