#include "exporter/store/state_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "exporter/store/latched_state.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

State full_state() {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  latched.observe(observe_xid({.code = 79, .second = 5}));
  latched.observe(observe_xid(
      {.code = 64, .cleared_by = ClearedBy::kOperator, .evidence = Evidence::kUserSpace}));
  Observation sxid = observe_xid({.code = 12028, .severity = Severity::kMonitor});
  sxid.event.kind = xid::Kind::kSxid;
  sxid.event.switch_name = "nvidia-nvswitch3";
  latched.observe(sxid);
  (void)latched.learn_uuid({*parse_pci_address("4e:00"), "GPU-a"});
  Gpu gpu;
  gpu.pci = *parse_pci_address("4e:00");
  gpu.uuid = "GPU-a";
  (void)latched.set_gpus({gpu}, at_second(0));
  CheckResult check;
  check.check = "1-dcgm-diag-l2";
  check.status = CheckStatus::kFail;
  check.severity = Severity::kReset;
  check.details = "memory";
  check.started = at_second(1);
  check.duration = std::chrono::minutes(5);
  Finding finding;
  finding.code = "memory";
  finding.evidence = Evidence::kMeasured;
  finding.cleared_by = ClearedBy::kCheck;
  finding.workload = "team/train-0";
  check.findings.push_back(finding);
  latched.apply_check(check, true);
  check.check = "gpu";
  check.findings[0].cleared_by = ClearedBy::kOperator;
  check.findings[0].event = "2026-11-20T10:00:00Z 0:1";
  latched.apply_check(check, false);
  (void)latched.clear({.check = "gpu", .code = "memory"}, at_second(2));
  check.findings[0].event = "2026-11-20T11:00:00Z 0:2";
  latched.apply_check(check, false);
  Observation event = observe_xid({.code = 48, .second = 3});
  event.is_driver_event = true;
  latched.observe(event);
  LogPosition position;
  position.path = "/dev/kmsg";
  position.boot_id = "boot-1";
  position.sequence = 18446744073709551615ULL;
  position.offset = 7;
  position.fingerprint = 18446744073709551614ULL;
  latched.set_position(position);
  return latched.state();
}

TEST(StateFile, GivesBackAllThatWasSaved) {
  const support::TempDir folder;
  const StateFile file(folder / "made");
  const State state = full_state();

  ASSERT_TRUE(file.save(to_state_json(state)).has_value());
  const auto loaded = file.load();

  ASSERT_EQ(loaded.fault, "");
  const State& read = loaded.state;
  EXPECT_EQ(to_state_json(read), to_state_json(state));
  EXPECT_EQ(read.position, state.position);
  EXPECT_EQ(read.counters.size(), 4U);
  EXPECT_EQ(read.findings.size(), 6U);
  const FindingKey of_an_event{"gpu", "memory", "", Evidence::kMeasured};
  EXPECT_EQ(read.findings.at(of_an_event).event, "2026-11-20T11:00:00Z 0:2");
  EXPECT_EQ(read.settled.at(of_an_event), "2026-11-20T10:00:00Z 0:1");
  EXPECT_TRUE(read.findings.at({"xid", "48", "0000:4e:00", Evidence::kKernel}).is_by_library_alone);
  EXPECT_EQ(read.boards.at("0000:4e:00"), "GPU-a");
  EXPECT_EQ(read.boards_boot_id, "boot-1");
  EXPECT_EQ(read.checks.at("1-dcgm-diag-l2").duration, std::chrono::minutes(5));
}

TEST(StateFile, ReadsWhatTheVersionBeforeHasWritten) {
  const auto loaded = parse_state_json(
      R"({"schema_version":1,"boot_id":"b","position":{"path":"","boot_id":"","inode":0,"offset":0,)"
      R"("fingerprint":0},"counters":[],"findings":[{"check":"xid","code":"79","pci_bus_id":"",)"
      R"("severity":"reboot","cleared_by":"reboot","evidence":"kernel","line":"","why":"",)"
      R"("first_seen_ms":1,"last_seen_ms":1,"count":1}],"uuids":{},"dropped_events":0,)"
      R"("findings_updated_ms":0})");

  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->findings.size(), 1U);
}

TEST(StateFile, MakesItsFolderAtTheStartForThoseWhoLeaveRequestsThere) {
  const support::TempDir place;
  const std::filesystem::path folder = place.path() / "not" / "yet";

  EXPECT_EQ(StateFile(folder).load().fault, "");

  EXPECT_TRUE(std::filesystem::is_directory(folder));
}

TEST(StateFile, IsEmptyIfThereIsNone) {
  const support::TempDir folder;

  const auto loaded = StateFile(folder.path()).load();

  EXPECT_EQ(loaded.fault, "");
  EXPECT_TRUE(loaded.state.counters.empty());
}

TEST(StateFile, GivesBackTheSaveBeforeIfTheLastOneIsBroken) {
  const support::TempDir folder;
  const StateFile file(folder.path());
  State state = full_state();
  ASSERT_TRUE(file.save(to_state_json(state)).has_value());
  state.boot_id = "boot-2";
  ASSERT_TRUE(file.save(to_state_json(state)).has_value());
  folder.write("state.json", to_state_json(state).substr(0, 40));

  const auto loaded = file.load();

  EXPECT_NE(loaded.fault, "");
  EXPECT_TRUE(loaded.is_previous);
  EXPECT_EQ(to_state_json(loaded.state), to_state_json(full_state()));
}

TEST(StateFile, GivesBackTheSaveBeforeUntilThereIsAnother) {
  const support::TempDir folder;
  const StateFile file(folder.path());
  ASSERT_TRUE(file.save(to_state_json(full_state())).has_value());
  ASSERT_TRUE(file.save(to_state_json(full_state())).has_value());
  folder.write("state.json", "broken");
  (void)file.load();  // of a run that ended before it saved

  const auto loaded = file.load();

  EXPECT_NE(loaded.fault, "");
  EXPECT_TRUE(loaded.is_previous);
  EXPECT_EQ(to_state_json(loaded.state), to_state_json(full_state()));
}

// A later release may have kinds that this one does not know.
TEST(StateFile, LeavesOutWhatIsOfAKindThatItDoesNotKnow) {
  std::string text = to_state_json(full_state());
  const auto rename = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  rename(R"("kind":"sxid")", R"("kind":"of_later")");
  rename(R"("cleared_by":"operator")", R"("cleared_by":"of_later")");

  const auto read = parse_state_json(text);

  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->counters.size(), full_state().counters.size() - 1);
  EXPECT_EQ(read->findings.size(), full_state().findings.size() - 1);
}

TEST(StateFile, KeepsWhatAnOldLineAskedFor) {
  State state = full_state();
  state.findings.begin()->second.history = Severity::kReboot;
  state.findings.begin()->second.is_of_earlier_boot = true;
  const auto read = parse_state_json(to_state_json(state));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->findings.begin()->second.history, Severity::kReboot);
  EXPECT_TRUE(read->findings.begin()->second.is_of_earlier_boot);
}

class BrokenStateFile : public testing::TestWithParam<const char*> {};

TEST_P(BrokenStateFile, IsSetAsideAndSaid) {
  const support::TempDir folder;
  folder.write("state.json", GetParam());
  const StateFile file(folder.path());

  const auto loaded = file.load();

  EXPECT_NE(loaded.fault, "");
  EXPECT_FALSE(loaded.is_previous);
  EXPECT_TRUE(loaded.state.findings.empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "state.json"));
  EXPECT_TRUE(std::filesystem::exists(folder / "state.json.broken"));
  EXPECT_EQ(file.load().fault, "") << "the next start has a clean slate";
}

INSTANTIATE_TEST_SUITE_P(
    Contents, BrokenStateFile,
    testing::Values(
        "", "{", "[]", "null", "{}", R"({"schema_version": 2})", R"({"schema_version": 1})",
        R"({"schema_version":1,"boot_id":5,"position":{},"counters":[],"findings":[],"uuids":{},)"
        R"("dropped_events":0,"findings_updated_ms":0})",
        R"({"schema_version":1,"boot_id":"b","position":{"path":"","boot_id":"","inode":0,)"
        R"("offset":-1,"fingerprint":0},"counters":[7],"findings":"x","uuids":[],)"
        R"("dropped_events":0,"findings_updated_ms":0})"));

TEST(StateFile, IsSetAsideIfItCannotBeRead) {
  const support::TempDir folder;
  std::filesystem::create_symlink("state.json", folder / "state.json");  // ELOOP, for root too
  const StateFile file(folder.path());

  EXPECT_NE(file.load().fault, "");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "state.json.broken"))
      << "the next save must not write over it";
}

TEST(StateFile, ReadsForOthersWithoutTouchingAnything) {
  const support::TempDir folder;
  const StateFile file(folder.path());
  EXPECT_EQ(file.read().error().kind, ErrorKind::kNotFound);

  folder.write("state.json", "broken");

  EXPECT_EQ(file.read().error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(std::filesystem::exists(folder / "state.json"));
}

TEST(StateFile, SaysWhereItCouldNotSave) {
  const support::TempDir folder;
  folder.write("file", "x");
  const StateFile file(folder / "file");

  const Status status = file.save("{}");

  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("file"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::exporter
