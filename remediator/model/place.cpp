#include "remediator/model/place.h"

#include "remediator/model/text_map.h"

namespace gpuward::remediator {

Place place_of(const kube::Labels& labels, const PlaceKeys& keys) {
  Place place;
  for (const std::string& key : keys.pool) {
    place.pool = value_at(labels, key);
    if (!place.pool.empty()) break;
  }
  place.zone = value_at(labels, keys.zone);
  for (const std::string& key : keys.domains) {
    if (std::string value = value_at(labels, key); !value.empty()) {
      place.domains.emplace(key, std::move(value));
    }
  }
  return place;
}

}  // namespace gpuward::remediator
