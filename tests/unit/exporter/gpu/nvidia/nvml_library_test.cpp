
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exporter/gpu/nvidia/nvml_symbols.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/support/host_tree.h"
#include "tests/unit/exporter/gpu/nvidia/fake_library.h"

namespace gpuward::exporter {
namespace {

using fake_nvml::FakeNvml;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(NvmlLibrary, TellsTheInventoryOfEightGpus) {
  const FakeNvml fake("healthy_8x_h100");

  const VendorReading report = read_once();

  EXPECT_EQ(report.vendor, Vendor::kNvidia);
  EXPECT_EQ(report.state, LibraryState::kReady);
  EXPECT_EQ(report.fault, "");
  EXPECT_EQ(report.library, FakeNvml::library());
  EXPECT_EQ(report.driver_version, "550.54.15");
  EXPECT_EQ(report.library_version, "12.550.54.15");
  ASSERT_THAT(report.gpus, SizeIs(8));
  const GpuReading& third = report.gpus[3];
  EXPECT_EQ(third.gpu.index, 3);
  EXPECT_EQ(third.gpu.uuid, "GPU-00000003-aaaa-bbbb-cccc-000000000003");
  EXPECT_EQ(third.gpu.pci.full(), "0000:4e:00.0");
  EXPECT_EQ(third.gpu.serial, "1654321010003");
  EXPECT_EQ(third.gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(third.vbios_version, "96.00.74.00.01");
  EXPECT_EQ(third.part_number, "692-2G520-0200-000");
  EXPECT_EQ(third.minor_number, 3U);
  EXPECT_EQ(third.architecture, 9U);
  EXPECT_FALSE(third.is_lost);
  EXPECT_EQ(third.fault, "");
}

TEST(NvmlLibrary, SaysNothingIfThereIsNoLibrary) {
  const VendorReading report = read_once("/nowhere/libnvidia-ml.so.1");

  EXPECT_EQ(report.state, LibraryState::kAbsent);
  EXPECT_EQ(report.fault, "");
  EXPECT_THAT(report.gpus, IsEmpty());
}

TEST(NvmlLibrary, TakesALibraryThatIsNotAskedForByPathForAbsentToo) {
  EXPECT_EQ(read_once("libgpuward-no-such-library.so.1").state, LibraryState::kAbsent);
}

TEST(NvmlLibrary, SaysThatALibraryCannotBeLoaded) {
  const support::TempDir folder;
  const std::string path = folder.write("libnvidia-ml.so.1", "no library at all").string();

  const VendorReading report = read_once(path);

  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_THAT(report.fault, HasSubstr("libnvidia-ml.so.1: "));
}

TEST(NvmlLibrary, SaysThatAnotherLibraryHasTheName) {
  const VendorReading report = read_once("libm.so.6");

  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_EQ(report.fault, "the library has no function nvmlInit_v2");
}

TEST(NvmlLibrary, TellsAVersionMismatchInTheLibrarysWords) {
  const FakeNvml fake("version_mismatch");

  const VendorReading report = read_once();

  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_EQ(report.fault, "nvmlInit_v2: Driver/library version mismatch");
}

TEST(NvmlLibrary, TellsThatTheDriverIsNotLoaded) {
  const FakeNvml fake("driver_not_loaded");

  EXPECT_EQ(read_once().fault, "nvmlInit_v2: Driver Not Loaded");
}

TEST(NvmlLibrary, TellsThatItMayNotAskTheDriver) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlInit_v2.*", "4");

  const VendorReading report = read_once();

  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_EQ(report.fault, "nvmlInit_v2: Insufficient Permissions");
}

TEST(NvmlLibrary, FindsADriverThatIsLoadedLater) {
  FakeNvml fake("driver_not_loaded");
  const auto library = make_library();
  ASSERT_EQ(library->read(ignore_progress).state, LibraryState::kUnusable);

  fake.play("healthy_8x_h100");

  EXPECT_THAT(library->read(ignore_progress).gpus, SizeIs(8));
}

TEST(NvmlLibrary, OpensTheLibraryAgainWhenTheDriverWasUpgraded) {
  FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  ASSERT_EQ(library->read(ignore_progress).driver_version, "550.54.15");

  fake.set("fault.nvmlDeviceGetCount_v2.*", "1");
  fake.set("fault.nvmlInit_v2.*", "18");
  const VendorReading between = library->read(ignore_progress);
  fake.play("healthy_8x_h100");
  fake.set("driver_version", "580.65.06");
  const VendorReading after = library->read(ignore_progress);

  EXPECT_EQ(between.state, LibraryState::kUnusable);
  EXPECT_THAT(between.gpus, IsEmpty());
  EXPECT_EQ(after.state, LibraryState::kReady);
  EXPECT_EQ(after.driver_version, "580.65.06");
  EXPECT_EQ(fake.count_calls("nvmlInit_v2"), 3U);
  EXPECT_EQ(fake.count_calls("nvmlShutdown"), 1U);
}

TEST(NvmlLibrary, LeavesNoEventSetBehindWhenItIsOpenedAgain) {
  FakeNvml fake("healthy_8x_h100");
  {
    const auto library = make_library();
    ASSERT_EQ(library->read(ignore_progress).state, LibraryState::kReady);
    for (int again = 0; again < 3; ++again) {
      fake.set("fault.nvmlDeviceGetCount_v2.*", "1");
      ASSERT_EQ(library->read(ignore_progress).state, LibraryState::kUnusable);
      fake.set("fault.nvmlDeviceGetCount_v2.*", "delay 0");
      ASSERT_EQ(library->read(ignore_progress).state, LibraryState::kReady);
    }
  }

  EXPECT_EQ(fake.count_calls("nvmlEventSetCreate"), 4U);
  EXPECT_EQ(fake.count_calls("nvmlEventSetFree"), 4U);
  EXPECT_EQ(fake.count_calls("nvmlInit_v2"), fake.count_calls("nvmlShutdown"));
  EXPECT_THAT(fake.calls(), Not(Contains(StartsWith("leak"))));
}

TEST(NvmlLibrary, SaysThatCountingFailed) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetCount_v2.*", "999");

  const VendorReading report = read_once();

  EXPECT_EQ(report.state, LibraryState::kUnusable);
  EXPECT_EQ(report.fault, "nvmlDeviceGetCount_v2: Unknown Error");
}

TEST(NvmlLibrary, CountsSevenOfEight) {
  const FakeNvml fake("seven_of_eight");

  EXPECT_THAT(read_once().gpus, SizeIs(7));
}

TEST(NvmlLibrary, ListsALostGpuAndReadsTheOthers) {
  const FakeNvml fake("lost_gpu");

  const VendorReading report = read_once();

  EXPECT_EQ(report.state, LibraryState::kReady);
  ASSERT_THAT(report.gpus, SizeIs(8));
  EXPECT_TRUE(report.gpus[3].is_lost);
  EXPECT_EQ(report.gpus[3].fault, "nvmlDeviceGetHandleByIndex_v2: GPU is lost");
  EXPECT_EQ(report.gpus[3].gpu.index, 3);
  EXPECT_FALSE(report.gpus[4].is_lost);
  EXPECT_EQ(report.gpus[4].thermals.gpu, 34.0);
}

// A machine whose PCI bus has the GPUs of the healthy scenario.
struct BusOfEight : support::HostTree {
  BusOfEight() {
    for (const char* bus : {"1a", "2b", "3c", "4e", "9a", "ab", "bc", "cd"}) {
      with_pci(std::string("0000:") + bus + ":00.0", support::h100());
    }
    with_nvswitches(4);
  }
};

VendorReading read_on(const support::HostTree& host) {
  return make_library(FakeNvml::library(), host.paths().sys.string())->read(ignore_progress);
}

TEST(NvmlLibrary, FindsThePlaceOfAGpuThatWasLostBeforeItCouldSayWhereItIs) {
  const FakeNvml fake("lost_gpu");

  const VendorReading report = read_on(BusOfEight());

  EXPECT_TRUE(report.gpus[3].is_lost);
  EXPECT_EQ(report.gpus[3].gpu.pci.bus_id(), "0000:4e:00");
  EXPECT_EQ(report.gpus[4].gpu.pci.bus_id(), "0000:9a:00");
}

TEST(NvmlLibrary, FindsThePlacesOfAllGpusIfAllAreLost) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetHandleByIndex_v2.*", "15");

  const VendorReading report = read_on(BusOfEight());

  ASSERT_THAT(report.gpus, SizeIs(8));
  EXPECT_EQ(report.gpus[0].gpu.pci.bus_id(), "0000:1a:00");
  EXPECT_EQ(report.gpus[7].gpu.pci.bus_id(), "0000:cd:00");
}

TEST(NvmlLibrary, GuessesNoPlaceIfMoreThanOneIsPossible) {
  FakeNvml fake("lost_gpu");
  fake.set("fault.nvmlDeviceGetHandleByIndex_v2.5", "4");

  const VendorReading report = read_on(BusOfEight());

  EXPECT_FALSE(report.gpus[3].gpu.has_address());
  EXPECT_FALSE(report.gpus[5].gpu.has_address());
}

TEST(NvmlLibrary, CountsNoGpuOfAnotherDriverAsAPlace) {
  const FakeNvml fake("lost_gpu");
  BusOfEight host;
  support::PciSpec other = support::h100();
  other.driver = "vfio-pci";
  host.with_pci("0000:4e:00.0", other);

  EXPECT_FALSE(read_on(host).gpus[3].gpu.has_address());
}

TEST(NvmlLibrary, RemembersWhichGpuWasLost) {
  FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  ASSERT_THAT(library->read(ignore_progress).gpus, SizeIs(8));

  fake.play("lost_gpu");
  const VendorReading report = library->read(ignore_progress);

  EXPECT_TRUE(report.gpus[3].is_lost);
  EXPECT_EQ(report.gpus[3].gpu.uuid, "GPU-00000003-aaaa-bbbb-cccc-000000000003");
  EXPECT_EQ(report.gpus[3].gpu.pci.bus_id(), "0000:4e:00");
}

TEST(NvmlLibrary, AsksALostGpuNoFurther) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetPersistenceMode.3", "15");

  const VendorReading report = read_once();

  EXPECT_TRUE(report.gpus[3].is_lost);
  EXPECT_EQ(report.gpus[3].fault, "nvmlDeviceGetPersistenceMode: GPU is lost");
  EXPECT_THAT(fake.calls(), Not(Contains("nvmlDeviceGetPowerUsage 3")));
  EXPECT_THAT(fake.calls(), Contains("nvmlDeviceGetPowerUsage 4"));
}

TEST(NvmlLibrary, TellsThatAGpuRequiresAReset) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetUtilizationRates.2", "16");

  const VendorReading report = read_once();

  EXPECT_FALSE(report.gpus[2].is_lost);
  EXPECT_EQ(report.gpus[2].reset_required, "nvmlDeviceGetUtilizationRates: GPU requires reset");
  EXPECT_EQ(report.gpus[2].fault, "") << "it has said the rest";
  EXPECT_EQ(report.gpus[2].thermals.gpu, 34.0);
  EXPECT_EQ(report.gpus[3].reset_required, "");
}

TEST(NvmlLibrary, AGpuThatAnswersNothingButThatItRequiresAResetIsAlsoSilent) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.*.2", "16");

  const VendorReading report = read_once();

  EXPECT_THAT(report.gpus[2].reset_required, HasSubstr("GPU requires reset"));
  EXPECT_THAT(report.gpus[2].fault, HasSubstr("GPU requires reset"));
}

TEST(NvmlLibrary, OneQuestionThatIsRefusedHidesNoneOfTheOthers) {
  for (const char* code : {"9", "1", "999"}) {
    FakeNvml fake("healthy_8x_h100");
    fake.set("fault.nvmlDeviceGetPersistenceMode.2", code);  // the first one of all
    fake.set("gpu.2.rows.failure", "1");

    const VendorReading report = read_once();

    ASSERT_THAT(report.gpus, SizeIs(8));
    EXPECT_EQ(report.gpus[2].fault, "") << code;
    EXPECT_EQ(report.gpus[2].persistence_mode, std::nullopt) << code;
    EXPECT_EQ(report.gpus[2].rows.failure, true) << code;
    EXPECT_EQ(report.gpus[2].thermals.gpu, 34.0) << code;
  }
}

TEST(NvmlLibrary, WhoAGpuIsMayBeRefusedAndTheRestBeTold) {
  FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  ASSERT_THAT(library->read(ignore_progress).gpus, SizeIs(8));
  for (const char* question : {"Index", "UUID", "Serial", "PciInfo_v3", "Name", "VbiosVersion",
                               "BoardPartNumber", "MinorNumber", "Architecture"}) {
    fake.set(std::string("fault.nvmlDeviceGet") + question + ".2", "999");
  }

  const VendorReading report = library->read(ignore_progress);

  EXPECT_EQ(report.gpus[2].fault, "");
  EXPECT_EQ(report.gpus[2].thermals.gpu, 34.0);
}

TEST(NvmlLibrary, TellsTheFirstFailureOfAGpuThatAnswersNothing) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.*.5", "999");
  fake.set("fault.nvmlDeviceGetHandleByIndex_v2.5", "delay 0");
  fake.set("fault.nvmlDeviceGetUUID.5", "delay 0");

  const VendorReading report = read_once();

  EXPECT_FALSE(report.gpus[5].is_lost);
  EXPECT_THAT(report.gpus[5].fault, HasSubstr("Unknown Error"));
  EXPECT_EQ(report.gpus[6].fault, "");
}

TEST(NvmlLibrary, ListsAGpuThatItMayNotOpen) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetHandleByIndex_v2.6", "4");

  const VendorReading report = read_once();

  ASSERT_THAT(report.gpus, SizeIs(8));
  EXPECT_EQ(report.gpus[6].fault, "nvmlDeviceGetHandleByIndex_v2: Insufficient Permissions");
  EXPECT_FALSE(report.gpus[6].is_lost);
}

TEST(NvmlLibrary, OneGpuThatKnowsNoDriverDoesNotLoseTheOthers) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetHandleByIndex_v2.6", "9");
  const auto library = make_library();

  for (int turn = 0; turn < 3; ++turn) {
    const VendorReading report = library->read(ignore_progress);
    ASSERT_THAT(report.gpus, SizeIs(8));
    EXPECT_EQ(report.gpus[6].fault, "nvmlDeviceGetHandleByIndex_v2: Driver Not Loaded");
    EXPECT_EQ(report.gpus[7].fault, "");
  }
  EXPECT_EQ(fake.count_calls("nvmlInit_v2"), 1U);
}

std::unique_ptr<GpuLibrary> make_library_for(GpuChoice choice) {
  LibraryPaths paths;
  paths.nvml = FakeNvml::library();
  paths.choice = std::move(choice);
  return make_nvml_library(paths);
}

TEST(NvmlLibrary, CallsNothingOfAGpuThatItIsToLeaveOut) {
  const FakeNvml fake("healthy_8x_h100");

  const VendorReading report =
      make_library_for({.left_out = {*parse_gpu_name("3@0000:4e:00")}, .only = {}})
          ->read(ignore_progress);

  ASSERT_THAT(report.gpus, SizeIs(8));
  EXPECT_TRUE(report.gpus[3].is_hung);
  EXPECT_EQ(report.gpus[3].gpu.index, 3);
  EXPECT_FALSE(report.gpus[4].is_hung);
  EXPECT_EQ(report.gpus[4].thermals.gpu, 34.0);
  EXPECT_THAT(report.peers, SizeIs(7U * 6U));
  EXPECT_THAT(fake.calls(), Not(Contains(EndsWith(" 3"))));
}

TEST(NvmlLibrary, AsksAGpuThatItIsToLeaveOutWhereItIsAndNoMore) {
  const FakeNvml fake("healthy_8x_h100");

  const VendorReading report =
      make_library_for({.left_out = {*parse_gpu_name("@0000:4e:00")}, .only = {}})
          ->read(ignore_progress);

  EXPECT_TRUE(report.gpus[3].is_hung);
  EXPECT_EQ(report.gpus[3].gpu.pci.bus_id(), "0000:4e:00");
  EXPECT_THAT(fake.calls(), Not(Contains("nvmlDeviceGetTemperatureV 3")));
  EXPECT_THAT(fake.calls(), Not(Contains("nvmlDeviceRegisterEvents 3")));
}

TEST(NvmlLibrary, AsksOneGpuAlone) {
  const FakeNvml fake("healthy_8x_h100");

  const VendorReading report =
      make_library_for({.left_out = {}, .only = parse_gpu_name("3@0000:4e:00")})
          ->read(ignore_progress);

  EXPECT_FALSE(report.gpus[3].is_hung);
  EXPECT_THAT(fake.calls(), Contains("nvmlDeviceGetTemperatureV 3"));
  EXPECT_THAT(fake.calls(), Not(Contains(EndsWith(" 4"))));
}

TEST(NvmlLibrary, TellsBeforeEachGroupWhereItIs) {
  const FakeNvml fake("healthy_8x_h100");
  std::vector<std::string> told;
  const auto library = make_library();

  (void)library->read([&](std::string_view step) { told.emplace_back(step); });

  EXPECT_THAT(told, Contains("loading " + FakeNvml::library()));
  EXPECT_THAT(told, Contains("initialising the library"));
  EXPECT_THAT(told, Contains("GPU 3 handle"));
  for (const char* group : {"temperature", "ecc", "nvlink", "events"}) {
    EXPECT_THAT(told, Contains(std::string("0000:4e:00 ") + group));
  }
  EXPECT_THAT(told, Contains("peers, from 0000:4e:00"));
}

TEST(NvmlLibrary, CrashesInTheWorkerOnly) {
  // A library may crash any process that loads it. This is the reason for the worker process.
  const FakeNvml fake("crashing_call");

  EXPECT_DEATH((void)read_once(), "");
}

TEST(NvmlLibrary, AsksForThePeersOnlyNowAndThen) {
  const FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();

  for (unsigned turn = 0; turn < kThoroughEvery; ++turn) {
    EXPECT_THAT(library->read(ignore_progress).peers, SizeIs(8U * 7U));
  }
  const std::size_t in_the_first_round = fake.count_calls("nvmlDeviceGetP2PStatus");
  (void)library->read(ignore_progress);

  EXPECT_EQ(in_the_first_round, 8U * 7U * 3U);
  EXPECT_EQ(fake.count_calls("nvmlDeviceGetP2PStatus"), 2U * in_the_first_round);
  EXPECT_EQ(fake.count_calls("nvmlDeviceGetTopologyCommonAncestor"), 2U * 8U * 7U / 2U);
}

TEST(NvmlLibrary, AsksForWhatABoardKeepsOnlyNowAndThenAndTellsItAlways) {
  FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  const VendorReading first = library->read(ignore_progress);
  const auto questions = fake.calls().size();

  const VendorReading second = library->read(ignore_progress);

  EXPECT_LT(fake.calls().size() - questions, questions * 9 / 10);
  for (const char* function :
       {"nvmlDeviceGetSerial", "nvmlDeviceGetVbiosVersion", "nvmlDeviceGetTemperatureThreshold",
        "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetPowerManagementDefaultLimit"}) {
    EXPECT_EQ(fake.count_calls(function),
              function == std::string("nvmlDeviceGetTemperatureThreshold") ? 3U * 8U : 8U)
        << function;
  }
  EXPECT_EQ(second.gpus[3].gpu.serial, first.gpus[3].gpu.serial);
  EXPECT_EQ(second.gpus[3].vbios_version, first.gpus[3].vbios_version);
  EXPECT_EQ(second.gpus[3].architecture, first.gpus[3].architecture);
  EXPECT_EQ(second.gpus[3].thermals.shutdown_threshold, first.gpus[3].thermals.shutdown_threshold);
  EXPECT_EQ(second.gpus[3].pcie.width_max, first.gpus[3].pcie.width_max);
  EXPECT_NE(second.gpus[3].pcie.width_max, std::nullopt);
  EXPECT_EQ(second.gpus[3].power.default_limit_watts, first.gpus[3].power.default_limit_watts);
}

TEST(NvmlLibrary, AsksAgainForWhatABoardKeepsIfItWasRefusedOnce) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlDeviceGetVbiosVersion.3", "999");
  const auto library = make_library();
  EXPECT_EQ(library->read(ignore_progress).gpus[3].vbios_version, "");
  fake.set("fault.nvmlDeviceGetVbiosVersion.3", "delay 0");
  EXPECT_NE(library->read(ignore_progress).gpus[3].vbios_version, "");
}

TEST(NvmlLibrary, TellsWhetherABoardLeavesItsFactoryWithEcc) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("gpu.0.ecc.default", "1");
  fake.set("gpu.1.ecc.default", "0");
  const auto library = make_library();
  for (int turn = 0; turn < 2; ++turn) {
    const VendorReading report = library->read(ignore_progress);
    EXPECT_EQ(report.gpus[0].ecc_default, true);
    EXPECT_EQ(report.gpus[1].ecc_default, false);
    EXPECT_EQ(report.gpus[2].ecc_default, std::nullopt) << "an older driver";
  }
  EXPECT_EQ(fake.count_calls("nvmlDeviceGetDefaultEccMode"), 8U);
}

// Eight GPUs as 56 MIG devices are eight GPUs.
TEST(NvmlLibrary, CountsNoMigDeviceAsAGpu) {
  FakeNvml fake("healthy_8x_h100");
  for (int gpu = 0; gpu < 8; ++gpu) {
    const std::string mig = "gpu." + std::to_string(gpu) + ".mig.";
    fake.set(mig + "mode", "1");
    fake.set(mig + "max", "7");
    for (int device = 0; device < 7; ++device) {
      const std::string number = std::to_string(device);
      fake.set(mig + number + ".uuid", "MIG-" + number);
      fake.set(mig + number + ".gpu_instance", number);
      fake.set(mig + number + ".compute_instance", "0");
    }
  }
  const VendorReading report = read_once();
  EXPECT_THAT(report.gpus, SizeIs(8));
  EXPECT_THAT(report.gpus[7].mig_instances, SizeIs(7));
}

TEST(NvmlLibrary, TellsHowGpusReachEachOther) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("p2p.1.3.nvlink", "4");
  fake.set("p2p.3.1.write", "!3");

  const VendorReading report = read_once();

  const PeerStatus& there = report.peers[7 + 2];  // from 1 to 3
  EXPECT_EQ(there.from, 1U);
  EXPECT_EQ(there.to, 3U);
  EXPECT_EQ(there.read_status, 0U);
  EXPECT_EQ(there.nvlink_status, 4U);
  EXPECT_EQ(there.topology, 40U);
  const PeerStatus& back = report.peers[3 * 7 + 1];  // from 3 to 1
  EXPECT_EQ(back.write_status, std::nullopt);
  EXPECT_EQ(back.nvlink_status, 0U);
}

TEST(NvmlLibrary, ComparesTheGpusAnewWhenOneIsLost) {
  FakeNvml fake("healthy_8x_h100");
  const auto library = make_library();
  ASSERT_THAT(library->read(ignore_progress).peers, SizeIs(8U * 7U));

  fake.play("lost_gpu");

  EXPECT_THAT(library->read(ignore_progress).peers, SizeIs(7U * 6U));
}

// A monitor that is killed while it profiles or changes a GPU leaves it frozen (Xid 119, 120): the
// worker only reads.
TEST(NvmlLibrary, SigkillWhileHoldingAGpuSoNothingIsAskedThatHoldsOne) {
  std::vector<std::string> asked;
  const nvml::Symbols symbols{[&](const char* name) -> void* {
    asked.emplace_back(name);
    return nullptr;
  }};
  EXPECT_GT(asked.size(), 40U);
  for (const std::string& name : asked) {
    for (const char* const word : {"DeviceSet", "DeviceReset", "DeviceClear", "DeviceModify", "Gpm",
                                   "Profil", "Accounting", "Sample", "VgpuInstance"}) {
      EXPECT_THAT(name, Not(HasSubstr(word)));
    }
  }
}

}  // namespace
}  // namespace gpuward::exporter
