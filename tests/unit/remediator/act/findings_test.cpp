// The findings that an exporter reports on its node, kept with the Remediation.
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;

class FindingsTest : public ClusterTest {
 protected:
  void say(const std::vector<std::pair<std::string, std::string>>& codes_and_severities) {
    std::vector<NodeFinding> findings;
    for (const auto& [code, severity] : codes_and_severities) {
      NodeFinding finding;
      finding.check = "xid";
      finding.code = code;
      finding.severity = severity;
      finding.first_seen = finding.last_seen = clock_.wall();
      findings.push_back(finding);
    }
    kube_.patch(
        kNodePath,
        {{"metadata",
          {{"annotations", {{std::string(kFindingsAnnotation), node_findings_text(findings)}}}}}});
  }
  std::vector<std::string> kept() {
    std::vector<std::string> codes;
    for (const NodeFinding& one : remediation().status.findings) codes.push_back(one.code);
    return codes;
  }
  static constexpr const char* kNodePath = "/api/v1/nodes/gpu-01";
};

TEST_F(FindingsTest, AreKeptFromTheFirstRecordOn) {
  say({{"79", "reboot"}});
  ASSERT_TRUE(take({signal()}));

  ASSERT_TRUE(reconcile());

  EXPECT_THAT(kept(), ElementsAre("79"));
  const Json object = kube_.get(std::string(remediation_collection()) + "/" + remediation().name);
  EXPECT_EQ(object["status"]["found"], "xid 79") << "the column of kubectl get";
}

TEST_F(FindingsTest, OutliveWhatTheNodeSaysAndItself) {
  say({{"79", "reboot"}});
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());

  say({});
  ASSERT_TRUE(reconcile());
  EXPECT_THAT(kept(), ElementsAre("79"));

  kube_.remove(kNodePath);
  ASSERT_TRUE(reconcile());
  EXPECT_FALSE(remediation().open());
  EXPECT_THAT(kept(), ElementsAre("79"));
}

TEST_F(FindingsTest, ThatComeLaterAreAddedAndTheWorstIsFirst) {
  say({{"63", "monitor"}});
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());

  say({{"79", "reboot"}, {"48", "reset"}});
  ASSERT_TRUE(reconcile());

  EXPECT_THAT(kept(), ElementsAre("79", "48", "63"));
}

TEST_F(FindingsTest, ThatAreRepeatedAreNotWrittenAgain) {
  say({{"79", "reboot"}});
  ASSERT_TRUE(take({signal()}));
  ASSERT_TRUE(reconcile());
  ASSERT_TRUE(reconcile());
  const std::string version = remediation().resource_version;

  clock_.advance(std::chrono::minutes(1));
  say({{"79", "reboot"}});
  ASSERT_TRUE(reconcile());

  EXPECT_EQ(remediation().resource_version, version);
}

}  // namespace
}  // namespace gpuward::remediator
