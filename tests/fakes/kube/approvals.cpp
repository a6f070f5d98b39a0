#include "tests/fakes/kube/approvals.h"

#include <string_view>

namespace gpuward::fakes {
namespace {

constexpr const char* kApproved = "gpuward.dev/approve";
constexpr const char* kBy = "gpuward.dev/approved-by";

const Json& annotations_of(const Json& object) {
  return member_at(member_at(object, "metadata"), "annotations");
}

std::unexpected<Failure> denied(const Target& target, const std::string& policy,
                                const std::string& why) {
  const std::string subject = target.resource->plural + "." + target.resource->group +
                              (target.name.empty() ? "" : " \"" + target.name + "\"");
  return std::unexpected(Failure{403, "Forbidden",
                                 subject + " is forbidden: ValidatingAdmissionPolicy '" + policy +
                                     "' with binding '" + policy + "' denied request: " + why,
                                 Json()});
}

}  // namespace

bool may_approve(const Target& target) {
  const Resource& resource = *target.resource;
  return resource.plural == "remediations" && resource.group == "gpuward.dev" &&
         target.subresource.empty();
}

Check check_approval(const std::string& user, const Target& target, const Json& before,
                     const Json& body) {
  const Json& old = annotations_of(before);
  const Json& said = annotations_of(body);
  const bool is_patch = !before.is_null();
  const auto after = [&](const char* key) {
    return string_at(is_patch && !said.contains(key) ? old : said, key);
  };
  const bool is_changed =
      after(kApproved) != string_at(old, kApproved) || after(kBy) != string_at(old, kBy);
  const bool is_taken_back = after(kApproved).empty() && after(kBy).empty();
  if (is_changed && !is_taken_back && after(kBy) != user) {
    return denied(
        target, "gpuward-approvals",
        "an approval is given under one's own name: gpuward.dev/approved-by must be " + user);
  }
  if (is_patch) return {};
  for (const char* key : {kApproved, "gpuward.dev/cancel", "gpuward.dev/pause"}) {
    if (!said.contains(key)) continue;
    return denied(target, "gpuward-humans-decide",
                  std::string("this account may not change the annotations ") + key +
                      ": they are what a human says");
  }
  return {};
}

}  // namespace gpuward::fakes
