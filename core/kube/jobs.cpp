#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"

namespace gpuward::kube {

Result<Job> Api::create_job(std::string_view ns, std::string_view json, const Permit& permit) {
  auto path = job_collection(ns);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.method = "POST";
  call.target = std::move(*path);
  call.body = json;
  call.permit = permit;
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_job(answer->json);
}

Result<Job> Api::get_job(std::string_view ns, std::string_view name) {
  auto path = job_path(ns, name);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.target = std::move(*path);
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_job(answer->json);
}

Result<std::vector<Job>> Api::list_jobs(std::string_view ns, std::string_view label_selector) {
  const auto path = job_collection(ns);
  if (!path) return std::unexpected(path.error());
  const ListQuery query{*path, std::string(label_selector), {}, impl_->options.page_size};
  return list_all<Job>(impl_->transport, query, decode_job);
}

Status Api::delete_job(std::string_view ns, std::string_view name) {
  auto path = job_path(ns, name);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.method = "DELETE";
  call.target = std::move(*path);
  // batch/v1 leaves the pods behind unless it is told otherwise.
  call.body = dump_json(
      {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}});
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace gpuward::kube
