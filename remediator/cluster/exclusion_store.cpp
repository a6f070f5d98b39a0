#include "remediator/cluster/exclusion_store.h"

#include <utility>

#include "remediator/cluster/exclusions_json.h"

namespace gpuward::remediator {
namespace {

constexpr int kMostTries = 5;
constexpr std::chrono::hours kKeptAfterEnd{24};

}  // namespace

ExclusionStore::ExclusionStore(kube::Api& api, std::string ns, Clock& clock)
    : api_(api), ns_(std::move(ns)), clock_(clock) {}

Result<ExclusionList> ExclusionStore::read(std::chrono::milliseconds max_age) {
  {
    const std::lock_guard lock(mutex_);
    if (read_at_ && clock_.steady() - *read_at_ < max_age) return list_;
  }
  if (auto loaded = reads_.ask([this] { return load(); }); !loaded) {
    return with_context("reading the exclusions", loaded.error());
  }
  const std::lock_guard lock(mutex_);
  return list_;
}

Status ExclusionStore::load() {
  const auto begun = clock_.steady();
  auto map = api_.get_config_map(ns_, kExclusionMap);
  if (!map && map.error().kind == ErrorKind::kNotFound) map = restore();
  if (!map) return std::unexpected(map.error());
  auto list = decode_exclusions(map->data);
  const std::lock_guard lock(mutex_);
  list_ = std::move(list);
  read_at_ = begun;
  return {};
}

// Deleting the ConfigMap ends no exclusion: the last list is written again.
Result<kube::ConfigMap> ExclusionStore::restore() {
  kube::ConfigMap lost;
  lost.meta.ns = ns_;
  lost.meta.name = kExclusionMap;
  lost.data = encode_exclusions(last());
  if (lost.data.empty()) return lost;
  auto made = api_.create_config_map(lost);
  if (made || made.error().kind != ErrorKind::kAlreadyExists) return made;
  return api_.get_config_map(ns_, kExclusionMap);
}

Status ExclusionStore::change(const Change& change) {
  Status outcome;
  for (int i = 0; i < kMostTries; ++i) {
    outcome = change_once(change);
    const bool was_slower = !outcome && (outcome.error().kind == ErrorKind::kConflict ||
                                         outcome.error().kind == ErrorKind::kAlreadyExists);
    if (!was_slower) break;
  }
  return outcome;
}

Status ExclusionStore::change_once(const Change& change) {
  auto map = api_.get_config_map(ns_, kExclusionMap);
  const bool is_new = !map && map.error().kind == ErrorKind::kNotFound;
  if (!map && !is_new) return with_context("reading the exclusions", map.error());
  kube::ConfigMap next = is_new ? kube::ConfigMap() : std::move(*map);
  next.meta.ns = ns_;
  next.meta.name = kExclusionMap;
  // This machine's clock may be hours ahead; it must not end the exclusions of others.
  auto list = change(without_expired(decode_exclusions(next.data), clock_.wall() - kKeptAfterEnd));
  if (!list) return std::unexpected(list.error());
  next.data = encode_exclusions(*list);
  const auto written = is_new ? api_.create_config_map(next) : api_.update_config_map(next);
  if (!written) return with_context("writing the exclusions", written.error());
  return {};
}

ExclusionList ExclusionStore::last() const {
  const std::lock_guard lock(mutex_);
  return without_expired(list_, clock_.wall());
}

}  // namespace gpuward::remediator
