#include "remediator/guards/switch_position.h"

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kShownBytes = 40;  // of a value that says neither

std::unexpected<Error> stopped(const std::string& why, const std::string& advice) {
  return fail(ErrorKind::kBlocked, "every step is stopped: " + why + "; " + advice);
}

std::string to_go_on(const SwitchPlace& place) {
  return "to go on: kubectl -n " + place.ns + " patch configmap " + place.config_map +
         R"( --type=merge -p '{"data":{"stop":"false"}}')";
}

std::unexpected<Error> stopped_without(const SwitchPlace& place, const std::string& where,
                                       const Error& error) {
  if (error.kind == ErrorKind::kNotFound) {
    return stopped("there is no " + where, "to go on: kubectl -n " + place.ns +
                                               " create configmap " + place.config_map +
                                               " --from-literal=stop=false");
  }
  return stopped(where + " cannot be read: " + error.message,
                 "it goes on by itself once it can be");
}

}  // namespace

Status permission_of(const SwitchPlace& place, const Result<kube::ConfigMap>& read) {
  const std::string where = "ConfigMap " + place.ns + "/" + place.config_map;
  if (!read) return stopped_without(place, where, read.error());
  const auto entry = read->data.find(std::string(kStopKey));
  if (entry == read->data.end()) return stopped(where + " has no key stop", to_go_on(place));
  const std::string_view value = trim(entry->second);
  if (value == "false") return {};
  if (value == "true") return stopped(where + R"( says stop: "true")", to_go_on(place));
  return stopped(
      where + R"( says neither "true" nor "false" but ")" + to_valid_utf8(value, kShownBytes) + '"',
      to_go_on(place));
}

}  // namespace gpuward::remediator
