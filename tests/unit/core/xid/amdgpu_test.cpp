#include <gtest/gtest.h>

#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

class AmdLine : public testing::TestWithParam<LineInWords> {};

TEST_P(AmdLine, IsRecognised) {
  const auto event = parse_record(GetParam().line);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, GetParam().kind);
  EXPECT_EQ(event->label, GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(
    Every, AmdLine,
    testing::Values(
        LineInWords{
            "amdgpu 0000:68:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) "
            "detected!",
            Kind::kAmdRas, "UE"},
        LineInWords{
            "amdgpu 0000:9e:00.0: {1}[Hardware Error]: Accelerator Check Architecture events "
            "logged",
            Kind::kAmdRas, "ACA"},
        LineInWords{"amdgpu 0000:0b:00.0: 7 correctable hardware errors detected in umc block",
                    Kind::kAmdRas, "CE"},
        LineInWords{
            "amdgpu 0000:0b:00.0: amdgpu: {3}socket: 4, die: 0, 1 new uncorrectable hardware "
            "errors detected in umc block",
            Kind::kAmdRas, "UE"},
        LineInWords{
            "amdgpu 0000:0b:00.0: amdgpu: 2 new deferred hardware errors detected in umc block",
            Kind::kAmdRas, "DE"},
        LineInWords{"amdgpu: qcm fence wait loop timeout expired", Kind::kAmdHang, "fence_timeout"},
        // github.com/ROCm/ROCm issue 3696; the last as Linux 6.10 has it.
        LineInWords{"amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out",
                    Kind::kAmdHang, "preemption_failed"},
        LineInWords{
            "amdgpu 0000:03:00.0: amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption "
            "time out",
            Kind::kAmdHang, "preemption_failed"},
        LineInWords{
            "amdgpu 0000:7c:00.0: Queue preemption failed for queue with doorbell_id: 80004008",
            Kind::kAmdHang, "preemption_failed"},
        LineInWords{"amdgpu 0000:c5:00.0: amdgpu: XCC 3: Queue preemption failed for queue with "
                    "doorbell_id: 80004008",
                    Kind::kAmdHang, "preemption_failed"},
        LineInWords{"amdgpu 0000:05:00.0: amdgpu: ring comp_1.1.0 timeout, but soft recovered",
                    Kind::kAmdReset, "ring_recovered"},
        LineInWords{
            "amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641",
            Kind::kAmdHang, "ring_timeout"},
        LineInWords{
            "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1, "
            "emitted seq=2",
            Kind::kAmdHang, "ring_timeout"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: GPU reset begin!", Kind::kAmdReset, "begin"},
        LineInWords{"amdgpu 0000:28:00.0: GPU reset begin!. Source:  1", Kind::kAmdReset, "begin"},
        LineInWords{"amdgpu 0000:08:00.0: amdgpu: Starting gfx_0.0.0 ring reset", Kind::kAmdReset,
                    "begin"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: MODE2 reset", Kind::kAmdReset, "method"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: GPU reset succeeded, trying to resume",
                    Kind::kAmdReset, "succeeded"},
        LineInWords{"amdgpu 0000:2b:00.0: amdgpu: GPU reset(1) succeeded!", Kind::kAmdReset,
                    "succeeded"},
        LineInWords{"amdgpu 0000:28:00.0: Ring gfx_0.0.0 reset failed", Kind::kAmdReset,
                    "ring_reset_failed"},
        LineInWords{"amdgpu 0000:28:00.0: amdgpu: Ring gfx_0.0.0 reset failure", Kind::kAmdReset,
                    "ring_reset_failed"},
        LineInWords{"amdgpu 0000:28:00.0: amdgpu: Ring gfx_0.0.0 reset succeeded", Kind::kAmdReset,
                    "ring_reset_succeeded"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: GPU reset(1) failed", Kind::kAmdReset, "failed"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = -110", Kind::kAmdReset,
                    "failed"},
        // Linux 7.2.
        LineInWords{"amdgpu 0000:03:00.0: GPU reset(1) failed with error -110", Kind::kAmdReset,
                    "failed"},
        LineInWords{
            "amdgpu 0000:0b:00.0: 2 uncorrectable hardware errors detected in GFX, instance: "
            "0, memory block: GC_CANE_MEM",
            Kind::kAmdRas, "UE"},
        LineInWords{
            "amdgpu 0000:0b:00.0: 1 correctable hardware errors detected in SDMA, instance: "
            "0, memory_id: 4",
            Kind::kAmdRas, "CE"},
        // Linux 5.15 to 6.8 have no comma behind the die.
        LineInWords{"amdgpu 0000:0b:00.0: socket: 0, die: 1 7 uncorrectable hardware errors "
                    "detected in umc block",
                    Kind::kAmdRas, "UE"},
        LineInWords{"amdgpu 0000:28:00.0: VRAM is lost due to GPU reset!", Kind::kAmdReset,
                    "vram_lost"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: GPU mode1 reset failed", Kind::kAmdReset,
                    "failed"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: device lost from bus!", Kind::kAmdLost,
                    "off_bus"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: amdgpu_device_ip_resume failed (-5).",
                    Kind::kAmdLost, "resume_failed"},
        LineInWords{"amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init", Kind::kAmdLost,
                    "init_failed"},
        LineInWords{"amdgpu 0000:03:00.0: probe with driver amdgpu failed with error -22",
                    Kind::kAmdLost, "probe_failed"},
        LineInWords{"amdgpu: probe of 0000:03:00.0 failed with error -22", Kind::kAmdLost,
                    "probe_failed"},
        LineInWords{"amdgpu 0000:c5:00.0: amdgpu: MES might be in unrecoverable state, issue a GPU "
                    "reset",
                    Kind::kAmdHang, "mes_hang"},
        LineInWords{"amdgpu: MES might be in unrecoverable state, issue a GPU reset",
                    Kind::kAmdHang, "mes_hang"},
        LineInWords{"amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE",
                    Kind::kAmdHang, "mes_no_answer"},
        LineInWords{"amdgpu 0000:c5:00.0: amdgpu: MES(0, 0) failed to respond to msg=SUSPEND",
                    Kind::kAmdHang, "mes_no_answer"},
        LineInWords{"amdgpu 0000:0b:00.0: amdgpu: RAS records:257 exceed threshold:256",
                    Kind::kAmdRas, "bad_page_threshold"},
        LineInWords{"amdgpu 0000:0b:00.0: amdgpu: RAS records:257 exceed threshold:256, GPU will "
                    "not be initialized. Replace this GPU or increase the threshold",
                    Kind::kAmdRas, "bad_page_threshold"},
        LineInWords{"amdgpu 0000:0b:00.0: amdgpu: Saved bad pages 256 reaches threshold value 256",
                    Kind::kAmdRas, "bad_page_threshold"},
        LineInWords{"amdgpu 0000:0b:00.0: amdgpu: Saved bad pages(256) reaches threshold "
                    "value(256).",
                    Kind::kAmdRas, "bad_page_threshold"}));

class AmdStep : public testing::TestWithParam<const char*> {};

// These lines come before the line by which the driver gives up. A line with its own verdict
// follows.
TEST_P(AmdStep, IsNoEvent) { EXPECT_FALSE(parse_record(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    OfARecovery, AmdStep,
    testing::Values("amdgpu 0000:03:00.0: amdgpu: SMC engine is not correctly up!",
                    "amdgpu 0000:03:00.0: amdgpu: resume of IP block <smu> failed -5",
                    "amdgpu 0000:03:00.0: amdgpu: GPU mode1 reset",
                    "amdgpu 0000:03:00.0: amdgpu: GPU psp mode1 reset",
                    "amdgpu 0000:03:00.0: amdgpu: GPU Recovery Failed: -19",
                    "amdgpu 0000:03:00.0: amdgpu: Failed to evict queue 1",
                    "amdgpu 0000:03:00.0: probe with driver snd_hda_intel failed with error -22",
                    "amdgpu: probe of the_device failed with error -22",
                    "amdgpu 0000:03:00.0: amdgpu: MES feature version = 1, fw version = 75",
                    "amdgpu 0000:03:00.0: amdgpu: MESS failed to respond to msg=1",
                    "amdgpu 0000:03:00.0: amdgpu: RAS records:12 found",
                    "amdgpu 0000:0b:00.0: amdgpu: RAS records:230 exceeds 90% of threshold:256"));

TEST(AmdLineAddress, IsTakenWhereItStands) {
  EXPECT_EQ(parse_record("amdgpu 0000:03:00.0: amdgpu: GPU reset begin!")->pci->full(),
            "0000:03:00.0");
  EXPECT_FALSE(parse_record("amdgpu: qcm fence wait loop timeout expired")->pci);
  EXPECT_EQ(parse_record("amdgpu: probe of 0000:03:00.0 failed with error -22")->pci->full(),
            "0000:03:00.0");
}

TEST(AmdLineCount, SaysHowManyErrors) {
  EXPECT_EQ(parse_record(
                "amdgpu 0000:0b:00.0: 1048560 uncorrectable hardware errors detected in umc block")
                ->count,
            1048560U);
}

TEST(AmdLine, OfAnotherMeaningIsNone) {
  for (const auto* line :
       {"amdgpu 0000:03:00.0: amdgpu: RAS: optional ras ta ucode is not available",
        "amdgpu 0000:9e:00.0: {1}[Hardware Error]: aca entry[00].STATUS=0x98000800003e0000",
        "amdgpu 0000:0b:00.0: 0 uncorrectable hardware errors detected in umc block",
        "amdgpu 0000:0b:00.0: 9 uncorrectable hardware errors detected in total in umc block",
        "amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = 0", "amdgpu: Topology: Add CPU node",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process ring x timeout "
        "pid 7",
        "amdgpu nonsense: GPU reset begin!", "[drm:amdgpu"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

}  // namespace
}  // namespace gpuward::xid
