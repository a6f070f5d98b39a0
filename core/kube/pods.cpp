#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/names.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

// The server itself retries for 10 s and more after conflicts on the budget.
constexpr std::chrono::milliseconds kEvictionPatience{30'000};

Json delete_options(const Eviction& eviction) {
  Json options = Json::object();
  if (eviction.grace_period_seconds) options["gracePeriodSeconds"] = *eviction.grace_period_seconds;
  if (!eviction.uid.empty()) options["preconditions"] = {{"uid", eviction.uid}};
  if (eviction.dry_run) options["dryRun"] = Json::array({"All"});
  return options;
}

// Without a UID, a second try could hit the pod that has replaced the first one.
Repeat repeat_of(const Eviction& eviction) {
  if (eviction.once) return Repeat::kNever;
  return eviction.uid.empty() ? Repeat::kIfNotTaken : Repeat::kAlways;
}

Result<Api::PodListing> listing_of(Transport& transport, const ListQuery& query) {
  Api::PodListing listing;
  auto version = list_into(listing.pods, transport, query, decode_pod);
  if (!version) return std::unexpected(std::move(version.error()));
  listing.resource_version = std::move(*version);
  return listing;
}

}  // namespace

Result<std::vector<Pod>> Api::list_pods_on(std::string_view node) {
  if (auto valid = validate_node_name(node); !valid)
    return std::unexpected(std::move(valid.error()));
  const ListQuery query{
      "/api/v1/pods", {}, "spec.nodeName=" + std::string(node), impl_->options.page_size};
  auto listing = listing_of(impl_->transport, query);
  if (!listing) return std::unexpected(std::move(listing.error()));
  return std::move(listing->pods);
}

Result<Api::PodListing> Api::list_pods_on(std::string_view node, const PodSource& source) {
  if (auto valid = validate_node_name(node); !valid)
    return std::unexpected(std::move(valid.error()));
  ListQuery query{
      "/api/v1/pods", {}, "spec.nodeName=" + std::string(node), impl_->options.page_size};
  if (source.is_cache) {
    query.page_size = 0;  // a cache has no pages
    query.not_older_than = source.not_older_than.empty() ? "0" : source.not_older_than;
    query.repeat = Repeat::kNever;
  }
  return listing_of(impl_->transport, query);
}

Result<std::vector<Pod>> Api::list_pods(std::string_view ns, std::string_view label_selector) {
  const ListQuery query{
      pod_collection(ns), std::string(label_selector), {}, impl_->options.page_size};
  return list_all<Pod>(impl_->transport, query, decode_pod);
}

Result<Pod> Api::get_pod(std::string_view ns, std::string_view name) {
  return impl_->transport.send({.target = pod_path(ns, name)}, decode_pod);
}

Status Api::evict(const Eviction& eviction) {
  const Json body = {{"apiVersion", "policy/v1"},
                     {"kind", "Eviction"},
                     {"metadata", {{"name", eviction.pod}, {"namespace", eviction.ns}}},
                     {"deleteOptions", delete_options(eviction)}};
  return impl_->transport.send_only(
      {.method = "POST",
       .target = below(pod_path(eviction.ns, eviction.pod), "eviction"),
       .body = dump_json(body),
       .repeat = repeat_of(eviction),
       .patience = kEvictionPatience});
}

Status Api::delete_pod(const Eviction& deletion) {
  Json options = delete_options(deletion);
  options["apiVersion"] = "v1";
  options["kind"] = "DeleteOptions";
  return impl_->transport.send_only({.method = "DELETE",
                                     .target = pod_path(deletion.ns, deletion.pod),
                                     .body = dump_json(options),
                                     .repeat = repeat_of(deletion)});
}

}  // namespace gpuward::kube
