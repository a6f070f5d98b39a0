// The real program beside an etcd that an operator restores from a backup.
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

const std::string kLedger = "/api/v1/namespaces/gpuward/configmaps/gpuward-ledger";

class RestoredProcess : public RemediatorProcess {
 protected:
  void start_here() {
    start_ready({"--mode=cordon", "--namespace=gpuward"});
    ASSERT_TRUE(support::wait_until([&] { return server_->kube().has(kLedger); }, "ledger"));
  }
  std::string ledger() { return server_->kube().get(kLedger)["data"]["ledger"].get<std::string>(); }
  void expect_an_end() {
    EXPECT_EQ(process_->wait_exit(), 3);
    EXPECT_THAT(process_->error_output(),
                HasSubstr("etcd was restored from a backup: this replica restarts"));
    EXPECT_THAT(ledger(), HasSubstr("etcd%20was%20restored%20from%20a%20backup"));
  }
};

TEST_F(RestoredProcess, OpensTheBreakerAndBeginsAnewIfTheLedgerHasGoneBack) {
  server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-02"));
  start_here();
  const Json backup = server_->kube().get(kLedger)["data"];
  deliver(alert());
  ASSERT_TRUE(support::wait_until([&] { return is_cordoned(); }, "the cordon"));
  Json restored = backup;
  restored["taints"] = nullptr;  // if the backup has none
  server_->kube().patch(kLedger, {{"data", restored}});

  deliver(notification(firing("gpu-02")));  // asks for a slot, and so reads the ledger

  expect_an_end();
  EXPECT_FALSE(is_cordoned("gpu-02"));
  start_here();
  EXPECT_TRUE(support::wait_until(
      [&] {
        return support::http_get(telemetry("/metrics"))
            .body.contains("gpuward_remediator_breaker_open 1");
      },
      "the open breaker"));
  EXPECT_FALSE(is_cordoned("gpu-02")) << "a human closes the breaker first";
}

}  // namespace
}  // namespace gpuward::remediator
