#include "core/kube/names.h"
#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

using kube::Lease;

class LeasesContract : public ContractTest {
 protected:
  static Lease lease_of(const std::string& holder) {
    Lease lease;
    lease.meta.name = own_name();
    lease.meta.ns = "default";
    lease.holder = holder;
    lease.duration_seconds = 15;
    lease.acquire_time = kube::to_micro_time(SystemClock().wall());
    lease.renew_time = lease.acquire_time;
    return lease;
  }
};
GPUWARD_CONTRACT(LeasesContract);

TEST_P(LeasesContract, IsCreatedReadAndRenewed) {
  EXPECT_EQ(api().get_lease("default", own_name()).error().kind, ErrorKind::kNotFound);
  const auto created = api().create_lease(lease_of("me"));
  ASSERT_TRUE(created) << created.error().message;
  Lease lease = api().get_lease("default", own_name()).value();
  EXPECT_EQ(lease.holder, "me");
  EXPECT_EQ(lease.acquire_time, created->acquire_time);
  lease.renew_time = kube::to_micro_time(SystemClock().wall());
  lease.transitions = 1;
  const auto renewed = api().update_lease(lease);
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(renewed->renew_time, lease.renew_time);
  EXPECT_EQ(renewed->transitions, 1);
  EXPECT_NE(renewed->meta.resource_version, lease.meta.resource_version);
}

TEST_P(LeasesContract, IsCreatedByOneOnly) {
  ASSERT_TRUE(api().create_lease(lease_of("me")));
  EXPECT_EQ(api().create_lease(lease_of("you")).error().kind, ErrorKind::kAlreadyExists);
}

TEST_P(LeasesContract, IsTakenByOneOnly) {
  const auto seen = api().create_lease(lease_of("me"));
  ASSERT_TRUE(seen);
  Lease mine = *seen;
  Lease yours = *seen;
  yours.holder = "you";
  ASSERT_TRUE(api().update_lease(yours));
  EXPECT_EQ(api().update_lease(mine).error().kind, ErrorKind::kConflict);
  EXPECT_EQ(api().get_lease("default", own_name())->holder, "you");
}

TEST_P(LeasesContract, IsReleasedByHavingNoHolder) {
  auto lease = api().create_lease(lease_of("me"));
  ASSERT_TRUE(lease);
  lease->holder.clear();
  lease->duration_seconds = 1;
  const auto released = api().update_lease(*lease);
  ASSERT_TRUE(released) << released.error().message;
  EXPECT_EQ(released->holder, "");
}

}  // namespace
}  // namespace gpuward::contract
