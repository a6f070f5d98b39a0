#include "remediator/model/machine_proofs.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

const WallTime kProofTime{hours(1'000'000)};

MachineProof a_proof(ProofKind kind, ProofSign sign, seconds age = seconds(5)) {
  return {.kind = kind, .sign = sign, .at = kProofTime - age, .words = "so it is"};
}

const MachineProof kScrapesDown = a_proof(ProofKind::kScrapes, ProofSign::kDown);
const MachineProof kCloudDown = a_proof(ProofKind::kCloud, ProofSign::kDown);
const MachineProof kPowerDown = a_proof(ProofKind::kPower, ProofSign::kDown);

TEST(MachineProofs, TwoOfDifferentKindsAreNeeded) {
  EXPECT_THAT(*objection_to_dead({}, kProofTime), HasSubstr("0 of 2 proofs"));
  EXPECT_THAT(*objection_to_dead({kCloudDown}, kProofTime), HasSubstr("1 of 2 proofs"));
  EXPECT_THAT(*objection_to_dead({kCloudDown, kCloudDown}, kProofTime), HasSubstr("1 of 2 proofs"));
  EXPECT_EQ(objection_to_dead({kCloudDown, kScrapesDown}, kProofTime), std::nullopt);
  EXPECT_EQ(objection_to_dead({kPowerDown, kCloudDown}, kProofTime), std::nullopt);
}

TEST(MachineProofs, OneSignOfLifeOutweighsThemAll) {
  for (const ProofKind kind : {ProofKind::kScrapes, ProofKind::kCloud, ProofKind::kPower}) {
    EXPECT_THAT(
        *objection_to_dead({kCloudDown, kScrapesDown, kPowerDown, a_proof(kind, ProofSign::kUp)},
                           kProofTime),
        HasSubstr("the machine is not down: "));
  }
}

TEST(MachineProofs, WhatIsUnknownOrOldProvesNothing) {
  const auto unknown = a_proof(ProofKind::kCloud, ProofSign::kUnknown);
  const auto old = a_proof(ProofKind::kCloud, ProofSign::kDown, seconds(121));
  const auto future = a_proof(ProofKind::kCloud, ProofSign::kDown, seconds(-121));
  for (const MachineProof& none : {unknown, old, future})
    EXPECT_THAT(*objection_to_dead({none, kScrapesDown}, kProofTime), HasSubstr("1 of 2 proofs"));
}

NodeScrapes dead_node() {
  NodeScrapes scrapes;
  scrapes.exporter = false;
  scrapes.others_down = 2;
  scrapes.at = kProofTime;
  scrapes.fleet_up = 20;
  scrapes.fleet_down = 1;
  return scrapes;
}

TEST(ProofOfScrapes, IsDownIfNothingOnTheNodeIsReadAndOthersAre) {
  EXPECT_EQ(proof_of(dead_node(), 2).sign, ProofSign::kDown);
}

TEST(ProofOfScrapes, IsUpIfAnythingOnTheNodeIsRead) {
  auto scrapes = dead_node();
  scrapes.exporter = true;
  EXPECT_EQ(proof_of(scrapes, 2).sign, ProofSign::kUp);
  scrapes = dead_node();
  scrapes.others_up = 1;
  EXPECT_EQ(proof_of(scrapes, 2).sign, ProofSign::kUp);
}

TEST(ProofOfScrapes, IsUnknownWithoutASeries) {
  auto scrapes = dead_node();
  scrapes.exporter.reset();
  EXPECT_EQ(proof_of(scrapes, 2).sign, ProofSign::kUnknown);
}

// Its pod may have ended by itself.
TEST(ProofOfScrapes, IsUnknownIfOnlyTheExporterIsKnown) {
  auto scrapes = dead_node();
  scrapes.others_down = 0;
  EXPECT_EQ(proof_of(scrapes, 2).sign, ProofSign::kUnknown);
}

TEST(ProofOfScrapes, IsUnknownIfPrometheusReadsFewOthers) {
  auto scrapes = dead_node();
  scrapes.fleet_down = 3;
  EXPECT_EQ(proof_of(scrapes, 2).sign, ProofSign::kUnknown);
}

}  // namespace
}  // namespace gpuward::remediator
