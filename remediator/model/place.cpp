#include "remediator/model/place.h"

namespace gpuward::remediator {
namespace {

std::string value_of(const kube::Labels& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string() : found->second;
}

}  // namespace

Place place_of(const kube::Labels& labels, const PlaceKeys& keys) {
  Place place;
  for (const std::string& key : keys.pool) {
    place.pool = value_of(labels, key);
    if (!place.pool.empty()) break;
  }
  place.zone = value_of(labels, keys.zone);
  for (const std::string& key : keys.domains) {
    if (std::string value = value_of(labels, key); !value.empty()) {
      place.domains.emplace(key, std::move(value));
    }
  }
  return place;
}

}  // namespace gpuward::remediator
