#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

// A released lease has no holder, and the server refuses a duration of 0: empty fields are omitted.
std::string body_of(const Lease& lease) {
  Json meta = {{"name", lease.meta.name}, {"namespace", lease.meta.ns}};
  if (!lease.meta.resource_version.empty()) meta["resourceVersion"] = lease.meta.resource_version;
  if (!lease.meta.uid.empty()) meta["uid"] = lease.meta.uid;
  if (!lease.meta.labels.empty()) meta["labels"] = lease.meta.labels;
  if (!lease.meta.annotations.empty()) meta["annotations"] = lease.meta.annotations;
  Json spec = {{"leaseTransitions", lease.transitions}};
  if (!lease.holder.empty()) spec["holderIdentity"] = lease.holder;
  if (lease.duration_seconds > 0) spec["leaseDurationSeconds"] = lease.duration_seconds;
  if (!lease.acquire_time.empty()) spec["acquireTime"] = lease.acquire_time;
  if (!lease.renew_time.empty()) spec["renewTime"] = lease.renew_time;
  return dump_json({{"apiVersion", "coordination.k8s.io/v1"},
                    {"kind", "Lease"},
                    {"metadata", meta},
                    {"spec", spec}});
}

}  // namespace

Result<Lease> Api::get_lease(std::string_view ns, std::string_view name) {
  return impl_->transport.send({.target = lease_path(ns, name)}, decode_lease);
}

Result<Lease> Api::create_lease(const Lease& lease) {
  return impl_->transport.send(
      {.method = "POST", .target = lease_collection(lease.meta.ns), .body = body_of(lease)},
      decode_lease);
}

Result<Lease> Api::update_lease(const Lease& lease) {
  if (lease.meta.resource_version.empty()) {
    return fail(ErrorKind::kInvalid,
                "lease " + lease.meta.name + " cannot be updated without its resourceVersion");
  }
  return impl_->transport.send({.method = "PUT",
                                .target = lease_path(lease.meta.ns, lease.meta.name),
                                .body = body_of(lease)},
                               decode_lease);
}

}  // namespace gpuward::kube
