#include "remediator/decide/budgets/ledger_store.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <utility>

#include "core/runtime/backoff.h"
#include "core/runtime/text.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_text.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kLedgerKey = "ledger";
constexpr const char* kTaintsKey = "taints";
constexpr const char* kWritesKey = "writes";
constexpr int kLedgerTries = 10;
constexpr std::chrono::milliseconds kLongestRest{100};
constexpr BackoffPolicy kBetweenWrites{std::chrono::milliseconds(20),
                                       std::chrono::milliseconds(2'000), 2.0};

// Puts both texts of the ledger into the map.
Status put_texts(const Ledger& ledger, kube::ConfigMap& map) {
  auto text = encode_ledger(ledger);
  if (!text) return std::unexpected(text.error());
  map.data[kLedgerKey] = std::move(*text);
  if (ledger.taints.empty()) {
    map.data.erase(kTaintsKey);
    return {};
  }
  map.data[kTaintsKey] = encode_taints(ledger);
  if (map.data[kLedgerKey].size() + map.data[kTaintsKey].size() <= kMaxLedgerBytes) return {};
  return fail(ErrorKind::kTooLarge, "the ledger and its taints would take more than " +
                                        std::to_string(kMaxLedgerBytes) + " bytes");
}

// Reads what put_texts() wrote. The previous version knows only the first text, and raises taints
// there.
Result<Ledger> take_texts(kube::ConfigMap& map) {
  auto ledger = decode_ledger(map.data[kLedgerKey]);
  if (!ledger) return ledger;
  if (const auto text = map.data.find(kTaintsKey); text != map.data.end()) {
    const auto taints = decode_taints(text->second);
    if (!taints) return std::unexpected(taints.error());
    for (const Slot& taint : *taints) {
      if (ledger->find(taint.remediation) == nullptr) ledger->taints.push_back(taint);
    }
  }
  return ledger;
}

// The texts are long; the ledger decoded from them is kept instead.
void forget_texts(kube::ConfigMap& map) {
  map.data[kLedgerKey].clear();
  map.data.erase(kTaintsKey);
}

// 0 if no writer has counted yet.
std::uint64_t writes_of(const kube::ConfigMap& map) {
  const auto text = map.data.find(kWritesKey);
  return text == map.data.end() ? 0 : parse_integer<std::uint64_t>(text->second).value_or(0);
}

Status as_status(const Result<kube::ConfigMap>& written) {
  if (!written) return with_context("the ledger cannot be written", written.error());
  return {};
}

// Returns why the count has gone back; nullopt if it has not. A restored ConfigMap has its old UID;
// one that was deleted and created again has another. `seen` is from before the read, because
// another thread may write during it.
std::optional<std::string> gone_back(const kube::ConfigMap& map, const WriteCount& seen) {
  const std::uint64_t writes = writes_of(map);
  if (seen.uid != map.meta.uid || writes >= seen.writes) return std::nullopt;
  return "the ledger was replaced by an older copy: its write count fell from " +
         std::to_string(seen.writes) + " to " + std::to_string(writes);
}

// Each change sees the ledger after the changes before it in the batch. A change that throws may
// have left the ledger half changed: all the others are applied again, without it.
template <typename Batch>
Ledger apply(const Batch& batch, const Ledger& before, std::vector<Status>& outcomes) {
  std::set<std::size_t> broken;
  for (;;) {
    Ledger ledger = before;
    std::size_t i = 0;
    try {
      for (; i < batch.size(); ++i) {
        if (!broken.contains(i)) outcomes[i] = (*batch[i]->change)(ledger);
      }
      return ledger;
    } catch (const std::exception& thrown) {
      broken.insert(i);
      outcomes[i] =
          fail(ErrorKind::kInternal,
               std::string("a change to the ledger failed with an exception: ") + thrown.what());
    }
  }
}

}  // namespace

Result<LedgerStore::Stored> LedgerStore::load() {
  WriteCount seen;
  {
    const std::lock_guard lock(mutex_);
    seen = most_writes_;
  }
  auto map = api_.get_config_map(place_.ns, place_.name);
  if (!map && map.error().kind == ErrorKind::kNotFound) {
    return fail(ErrorKind::kNotFound, "the ledger (configmap " + place_.ns + "/" + place_.name +
                                          ") is gone: budget usage is unknown");
  }
  if (!map) return with_context("the ledger cannot be read", map.error());
  was_seen_ = true;
  if (const auto why = gone_back(*map, seen); why && !accepts_restored_) {
    if (place_.on_went_back) place_.on_went_back(*why);
    return fail(ErrorKind::kGone, *why + ": budget usage since then is unknown");
  }
  // Its text is long: a version that is already known is not decoded again.
  auto ledger = known_as(*map);
  if (!ledger) {
    auto decoded = take_texts(*map);
    if (!decoded) {
      return with_context("configmap " + place_.ns + "/" + place_.name +
                              " (delete it: gpuward rebuilds it from the Remediations and opens "
                              "the circuit breaker)",
                          decoded.error());
    }
    ledger = std::make_shared<const Ledger>(*std::move(decoded));
  }
  forget_texts(*map);
  const std::uint64_t writes = writes_of(*map);
  Stored stored{*std::move(map), std::move(ledger), writes};
  remember(stored);
  return stored;
}

Result<Ledger> LedgerStore::read() {
  auto stored = load();
  if (!stored) return std::unexpected(stored.error());
  return *stored->ledger;
}

Status LedgerStore::begin(const std::function<Result<Ledger>()>& first) {
  const auto stored = load();
  if (stored) return {};
  if (stored.error().kind != ErrorKind::kNotFound) return std::unexpected(stored.error());
  auto ledger = first();
  if (!ledger) return std::unexpected(ledger.error());
  if (was_seen_ && !ledger->breaker.open) {
    ledger = open_breaker(*std::move(ledger), "the earlier ledger is gone: budget usage is unknown",
                          clock_.wall());
  }
  kube::ConfigMap map;
  map.meta.ns = place_.ns;
  map.meta.name = place_.name;
  map.data[kWritesKey] = "1";
  if (auto put = put_texts(*ledger, map); !put) return put;
  const auto made = api_.create_config_map(map);
  if (!made && made.error().kind == ErrorKind::kAlreadyExists) return {};
  if (!made) return as_status(made);
  was_seen_ = true;
  if (place_.on_made) place_.on_made();
  return {};
}

Status LedgerStore::change(const Change& change, const std::stop_token& stop) {
  Pending mine{&change};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&mine);
  done_.wait(lock, [&] { return mine.outcome || !is_writing_; });
  if (mine.outcome) return *mine.outcome;
  is_writing_ = true;
  lock.unlock();
  // If a write takes long, the writer rests as long after it (at most kLongestRest), and the
  // changes that come during the rest share the next write. After a short write the rest is too
  // short to matter.
  (void)clock_.sleep_until(rest_until_, stop);
  lock.lock();
  const Batch batch = std::exchange(waiting_, {});
  lock.unlock();
  const auto began = clock_.steady();
  std::vector<Status> outcomes = commit(batch, stop);
  rest_until_ =
      clock_.steady() + std::min<Clock::Steady::duration>(clock_.steady() - began, kLongestRest);
  lock.lock();
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i]->outcome = std::move(outcomes[i]);
  is_writing_ = false;
  done_.notify_all();
  return *mine.outcome;
}

Status LedgerStore::note_restored(const std::string& why, WallTime noticed) {
  accept_restored();
  return change([&](Ledger& ledger) -> Status {
    if (ledger.breaker.open || ledger.breaker.since >= noticed) return {};
    ledger = open_breaker(
        std::move(ledger),
        "etcd was restored from a backup (" + why + "): actions since that backup are unknown",
        clock_.wall());
    return {};
  });
}

std::size_t LedgerStore::waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

std::shared_ptr<const Ledger> LedgerStore::last() const {
  const std::lock_guard lock(mutex_);
  return last_ ? last_->ledger : nullptr;
}

std::shared_ptr<const Ledger> LedgerStore::known_as(const kube::ConfigMap& map) const {
  const std::lock_guard lock(mutex_);
  const bool is_known = last_ && !map.meta.resource_version.empty() &&
                        last_->map.meta.uid == map.meta.uid &&
                        last_->map.meta.resource_version == map.meta.resource_version;
  return is_known ? last_->ledger : nullptr;
}

void LedgerStore::remember(const Stored& stored) {
  const std::lock_guard lock(mutex_);
  last_ = stored;
  if (most_writes_.uid != stored.map.meta.uid) most_writes_ = {stored.map.meta.uid, 0};
  most_writes_.writes = std::max(most_writes_.writes, stored.writes);
}

Status LedgerStore::write(Stored stored, Ledger next) {
  if (auto put = put_texts(next, stored.map); !put) return put;
  // A count above all that this process has seen: otherwise other replicas would see the count go
  // back, and report the same restore again.
  std::uint64_t writes = stored.writes + 1;
  {
    const std::lock_guard lock(mutex_);
    if (most_writes_.uid == stored.map.meta.uid)
      writes = std::max(stored.writes, most_writes_.writes) + 1;
  }
  stored.map.data[kWritesKey] = std::to_string(writes);
  auto written = api_.update_config_map(stored.map);
  if (!written) return as_status(written);
  forget_texts(*written);
  written_ = Stored{*std::move(written), std::make_shared<const Ledger>(std::move(next)), writes};
  remember(*written_);
  accepts_restored_ = false;
  return {};
}

std::optional<Status> LedgerStore::commit_on_last(const Batch& batch,
                                                  std::vector<Status>& outcomes) {
  if (!written_) return std::nullopt;
  Stored stored = *std::exchange(written_, std::nullopt);
  Ledger next = apply(batch, *stored.ledger, outcomes);
  if (next == *stored.ledger) return std::nullopt;
  auto status = write(std::move(stored), std::move(next));
  const bool was_old = !status && (status.error().kind == ErrorKind::kConflict ||
                                   status.error().kind == ErrorKind::kNotFound);
  return was_old ? std::nullopt : std::optional(std::move(status));
}

// An error applies to the whole batch; the result of each change is in `outcomes`.
Status LedgerStore::commit_once(const Batch& batch, std::vector<Status>& outcomes) {
  if (auto status = commit_on_last(batch, outcomes)) return *status;
  const bool was_seen = was_seen_;  // it may be created during the read
  auto stored = load();
  const bool is_first_use = !stored && stored.error().kind == ErrorKind::kNotFound && !was_seen;
  if (is_first_use) return fail(ErrorKind::kConflict, "the ledger does not exist yet");
  if (!stored) return std::unexpected(stored.error());
  Ledger next = apply(batch, *stored->ledger, outcomes);
  if (next != *stored->ledger) return write(std::move(*stored), std::move(next));
  return {};
}

std::vector<Status> LedgerStore::commit(const Batch& batch, const std::stop_token& stop) {
  std::vector<Status> outcomes(batch.size());
  Backoff backoff(kBetweenWrites, jitter_.seed);
  Status common;
  for (int tried = 1; tried <= kLedgerTries; ++tried) {
    common = commit_once(batch, outcomes);
    if (common) return outcomes;
    if (common.error().kind != ErrorKind::kConflict || tried == kLedgerTries) break;
    if (clock_.sleep_for(backoff.next(), stop)) continue;
    common = fail(ErrorKind::kCancelled, "stopped while changing the ledger");
    break;
  }
  for (Status& outcome : outcomes) outcome = common;
  return outcomes;
}

}  // namespace gpuward::remediator
