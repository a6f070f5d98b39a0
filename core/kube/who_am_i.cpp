#include "core/kube/api.h"
#include "core/kube/impl.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

Result<std::string> Api::who_am_i() {
  const auto answer = impl_->transport.send(
      {.method = "POST",
       .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
       .body =
           dump_json({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}})});
  if (!answer) return std::unexpected(answer.error());
  std::string name =
      string_at(member_at(member_at(answer->json, "status"), "userInfo"), "username");
  if (name.empty())
    return fail(ErrorKind::kInternal, "the API server does not report the user of this client");
  return name;
}

}  // namespace gpuward::kube
