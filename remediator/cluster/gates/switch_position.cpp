#include "remediator/cluster/gates/switch_position.h"

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kShownBytes = 40;                  // of an invalid value
constexpr std::string_view kUsualNamespace = "gpuward";  // the default of gpuwardctl

std::unexpected<Error> stopped(const std::string& why, const std::string& advice) {
  return fail(ErrorKind::kBlocked, "every step is stopped: " + why + "; " + advice);
}

// `gpuwardctl start` also creates a missing ConfigMap.
std::string to_go_on(const SwitchPlace& place) {
  const bool is_usual = place.ns == kUsualNamespace;
  return "resume with: gpuwardctl start" + (is_usual ? "" : " -n " + place.ns);
}

std::unexpected<Error> stopped_without(const SwitchPlace& place, const std::string& where,
                                       const Error& error) {
  if (error.kind == ErrorKind::kNotFound) return stopped("there is no " + where, to_go_on(place));
  return stopped(where + " cannot be read: " + error.message,
                 "gpuward resumes by itself once it can read the ConfigMap");
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
  return stopped(where + R"( says stop: ")" + to_valid_utf8(value, kShownBytes) +
                     R"(", not "true" or "false")",
                 to_go_on(place));
}

}  // namespace gpuward::remediator
