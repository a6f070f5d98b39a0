#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using LeasesTest = ApiTest;

Lease held_lease() {
  Lease lease;
  lease.meta.name = "gpuward";
  lease.meta.ns = "sys";
  lease.meta.resource_version = "5";
  lease.holder = "pod_1";
  lease.duration_seconds = 15;
  lease.acquire_time = "2026-11-21T08:00:00.000000Z";
  lease.renew_time = "2026-11-21T08:00:05.000000Z";
  lease.transitions = 2;
  return lease;
}

constexpr const char* kAnswer =
    R"({"metadata":{"name":"gpuward","namespace":"sys","resourceVersion":"6"},
    "spec":{"holderIdentity":"pod_1","leaseDurationSeconds":15,"leaseTransitions":2,
    "acquireTime":"2026-11-21T08:00:00.000000Z","renewTime":"2026-11-21T08:00:05.000000Z"}})";

TEST_F(LeasesTest, ReadsAllItsFields) {
  client.then(answer(200, kAnswer));
  const auto lease = api.get_lease("sys", "gpuward");
  ASSERT_TRUE(lease);
  EXPECT_EQ(url(0), "https://api:6443/apis/coordination.k8s.io/v1/namespaces/sys/leases/gpuward");
  EXPECT_EQ(lease->holder, "pod_1");
  EXPECT_EQ(lease->duration_seconds, 15);
  EXPECT_EQ(lease->transitions, 2);
  EXPECT_EQ(lease->renew_time, "2026-11-21T08:00:05.000000Z");
}

TEST_F(LeasesTest, IsReplacedUnderItsVersion) {
  client.then(answer(200, kAnswer));
  ASSERT_TRUE(api.update_lease(held_lease()));
  EXPECT_EQ(client.requests[0].method, "PUT");
  EXPECT_EQ(sent(0)["metadata"]["resourceVersion"], "5");
  EXPECT_EQ(sent(0)["spec"]["holderIdentity"], "pod_1");
}

TEST_F(LeasesTest, IsNeverReplacedWithoutAVersion) {
  Lease lease = held_lease();
  lease.meta.resource_version.clear();
  EXPECT_EQ(api.update_lease(lease).error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(client.requests.empty());
}

TEST_F(LeasesTest, AReleasedOneHasNoHolderAtAll) {
  client.then(answer(200, kAnswer));
  Lease lease = held_lease();
  lease.holder.clear();
  ASSERT_TRUE(api.update_lease(lease));
  EXPECT_FALSE(sent(0)["spec"].contains("holderIdentity"));
}

TEST_F(LeasesTest, LosingTheRaceToCreateIsAnAnswer) {
  client.then(failure(409, "AlreadyExists"));
  EXPECT_EQ(api.create_lease(held_lease()).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(client.requests[0].method, "POST");
}

}  // namespace
}  // namespace gpuward::kube
