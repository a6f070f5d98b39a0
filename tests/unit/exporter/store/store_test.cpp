#include "exporter/store/store.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/deadline.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

LogBatch batch_of(std::vector<Observation> observations, std::uint64_t sequence) {
  LogBatch batch;
  batch.observations = std::move(observations);
  batch.position.sequence = sequence;
  batch.numbers.lines = 10;
  return batch;
}

TEST(Store, TakesCountsAndPositionOfABatchTogether) {
  Store store({});

  store.apply(batch_of({observe_xid({.code = 79})}, 42));

  const State state = store.state();
  EXPECT_EQ(state.counters.size(), 1U);
  EXPECT_EQ(state.position.sequence, 42U);
  EXPECT_EQ(store.snapshot().log.lines, 10U);
}

TEST(Store, ChangesItsVersionForEventsAndNotForOrdinaryLines) {
  Store store({});
  const std::uint64_t before = store.version();

  store.apply(batch_of({}, 1));
  EXPECT_EQ(store.version(), before);

  store.apply(batch_of({observe_xid({})}, 2));
  EXPECT_NE(store.version(), before);
}

TEST(Store, KeepsTheGpusThatAreGoneApartUntilTheyComeBack) {
  Store store({});
  Gpu stays, leaves;
  stays.pci.bus = 0x10;
  leaves.pci.bus = 0x11;
  store.set_gpus({stays, leaves}, {});
  EXPECT_TRUE(store.snapshot().gone_gpus.empty());

  store.set_gpus({stays}, {});
  store.set_gpus({stays}, {});
  ASSERT_EQ(store.snapshot().gone_gpus.size(), 1U);
  EXPECT_EQ(store.snapshot().gone_gpus[0].pci, leaves.pci);

  store.set_gpus({stays, leaves}, {});
  EXPECT_TRUE(store.snapshot().gone_gpus.empty());
}

// An operator cleared the finding that one was missing: the others count again at once.
TEST(Store, CountsTheEfaDevicesThatAreThereAfterAClear) {
  State state;
  state.machine.machine.system_uuid = "4c4c4544";
  Store store(state);
  InstanceFacts facts;
  facts.efa_on_pci = 31;
  store.set_instance(facts);
  CheckResult result;
  result.check = "2-efa-enumeration";
  result.findings.push_back({});
  result.findings[0].check = result.check;
  result.findings[0].code = "efa_count";
  result.findings[0].severity = Severity::kIsolate;
  store.apply_check(result, false);
  ClearRequest request;
  request.check = result.check;
  request.code = "efa_count";

  ASSERT_EQ(store.clear(request, WallTime(1h)).size(), 1U);

  EXPECT_EQ(store.state().machine.efa_devices, 31U);
}

TEST(Store, ChangesItsVersionOnlyIfHealthHasChanged) {
  Store store({});
  store.update_health([](Health& health) { health.kernel_log_fault = "no"; });
  const std::uint64_t before = store.version();

  store.update_health([](Health& health) { health.kernel_log_fault = "no"; });

  EXPECT_EQ(store.version(), before);
}

TEST(Store, WakesWhoWaitsForAChange) {
  Store store({});
  const std::uint64_t seen = store.version();
  std::uint64_t woken = seen;
  std::jthread waiter([&] { woken = store.wait_for_change(seen, 60s, {}); });

  store.touch();
  waiter.join();

  EXPECT_NE(woken, seen);
}

TEST(Store, EndsAWaitOnAStop) {
  Store store({});
  const auto start = std::chrono::steady_clock::now();
  {
    std::jthread waiter([&](const std::stop_token& stop) {
      store.wait_for_change(store.version(), 2 * support::kGenerous, stop);
    });
  }

  EXPECT_LT(std::chrono::steady_clock::now() - start, support::kGenerous);
}

TEST(Store, DropsAgedFindings) {
  Store store({});
  store.apply(batch_of({observe_xid({.code = 13, .cleared_by = ClearedBy::kAge})}, 1));

  store.expire(at_second(7200), 1h);

  EXPECT_TRUE(store.state().findings.empty());
}

}  // namespace
}  // namespace gpuward::exporter
