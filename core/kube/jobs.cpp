#include <string>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

Result<Job> Api::create_job(std::string_view ns, std::string_view json, const Permit& permit) {
  return impl_->transport.send(
      {.method = "POST", .target = job_collection(ns), .body = std::string(json), .permit = permit},
      decode_job);
}

Result<Job> Api::get_job(std::string_view ns, std::string_view name) {
  return impl_->transport.send({.target = job_path(ns, name)}, decode_job);
}

Result<std::vector<Job>> Api::list_jobs(std::string_view ns, std::string_view label_selector) {
  const ListQuery query{
      job_collection(ns), std::string(label_selector), {}, impl_->options.page_size};
  return list_all<Job>(impl_->transport, query, decode_job);
}

Status Api::delete_job(std::string_view ns, std::string_view name) {
  // batch/v1 keeps the pods by default.
  const Json options = {
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  return impl_->transport.send_only(
      {.method = "DELETE", .target = job_path(ns, name), .body = dump_json(options)});
}

}  // namespace gpuward::kube
