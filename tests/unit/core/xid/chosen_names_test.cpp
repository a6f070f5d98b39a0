// A process chooses its name and that of its program, and the kernel prints both into its own
// records. No choice makes such a record an event of a GPU.
#include "tests/unit/core/xid/chosen_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/xid/parser.h"
#include "tests/unit/core/xid/corpus.h"

namespace gpuward::xid {
namespace {

constexpr std::size_t kLongestComm = 15, kLongestFile = 255;

// Messages of drivers: those of the corpus, and those that it lacks.
std::set<std::string> messages_of_drivers() {
  std::set<std::string> messages;
  std::set<std::string> kinds;
  for (const auto& line : test::load_corpus()) {
    const std::string message(strip_prefixes(line.text));
    const auto event = parse_message(message);
    // One of each kind, and several Xids.
    if (event && kinds.insert(std::to_string(event->code % 10) + event->label).second)
      messages.insert(message);
  }
  for (const std::string_view message :
       {"amdgpu 0000:0b:00.0: amdgpu: {3}socket: 4, die: 0, 1 new uncorrectable hardware errors "
        "detected in umc block",
        "amdgpu: qcm fence wait loop timeout expired",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1",
        "amdgpu 0000:2b:00.0: amdgpu: GPU reset(1) succeeded!",
        "amdgpu 0000:03:00.0: amdgpu: GPU reset(1) failed",
        "pcieport 0000:00:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:00:03.0",
        "EDAC MC12: 1 UE memory read error on CPU_SrcID#0 (channel:0 page:0x0 offset:0x0 grain:32)",
        "EDAC MC0: 1 UE on x (slot:0 page:0x0)",
        "mce: [Hardware Error]: Machine check events logged",
        "mce: CPU 1: Machine Check Exception: 5 Bank 4: b200000000070f0f",
        "nvidia-peermem f:1 ERROR detected invalid context, skipping further processing",
        "NVRM: The NVIDIA GPU 0000:29:00.0\\x0aNVRM: fallen off the bus and is not responding"}) {
    EXPECT_TRUE(parse_message(message)) << message;
    messages.emplace(message);
  }
  return messages;
}

// Names that a forger would choose: the message behind a text that a careless reader removes.
std::vector<std::string> names_from(const std::string& message) {
  std::vector<std::string> names;
  for (const std::string_view before :
       {"", "]] ", "x ", "kernel: ", "x kernel: ", "[1.0] ", "<4>", "6,1,1,-;", "\\x0a",
        "1 12:00:00 h kernel: ", "]] *ERROR* ", "0000:4e:00.0: ", "2024-06-06T10:26:53 "}) {
    names.push_back(std::string(before) + message);
  }
  return names;
}

void expect_no_event(const std::string& record) {
  EXPECT_FALSE(parse_message(record)) << record;
  // A text log puts its own header before each record.
  for (const std::string_view header : {"<4>[   12.345678] ", "Nov 18 17:26:39 host kernel: ",
                                        "2024-06-06T10:26:53,958539+08:00 "}) {
    EXPECT_FALSE(parse_record(std::string(header) + record)) << header << record;
  }
}

TEST(ChosenNames, AreThoseOfManyMessagesOfFourKernels) {
  const auto templates = test::load_chosen_names();
  EXPECT_GT(templates.size(), 400U);
  const std::set<std::string> all(templates.begin(), templates.end());
  EXPECT_TRUE(all.contains("{comm}[1]: segfault at 1 ip 1 sp 1 error 1"));
  EXPECT_TRUE(all.contains("process '{file}' started with executable stack"));
  EXPECT_TRUE(all.contains("{file}: Can't lookup blockdev"));
}

TEST(ChosenNames, MakeNoEventWhateverTheyAre) {
  const auto templates = test::load_chosen_names();
  for (const std::string& message : messages_of_drivers()) {
    for (const std::string& name : names_from(message)) {
      const std::string comm = name.substr(0, kLongestComm);
      for (const std::string& one : templates) {
        // The whole message is in a file's name. In the second case its beginning is in the
        // process's name, and the rest in the file's.
        expect_no_event(test::with_names(one, comm, name.substr(0, kLongestFile)));
        expect_no_event(
            test::with_names(one, comm, name.substr(std::min(comm.size(), name.size()))));
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

// fs/super.c prints the source of a mount first, which can be as long as the mounter likes. The
// kernel cuts such a message before the words that identify it.
TEST(ChosenNames, OfAMountMakeNoEventHoweverLongTheyAre) {
  constexpr std::size_t kShortestCut = 960, kLongestRecord = 1023;
  for (const std::string_view ending :
       {": Can't lookup blockdev", ": Can't open blockdev", ": Can't mount, would change RO state",
        ": potentially unexpected fatal signal 11."}) {
    for (const std::string& driver : messages_of_drivers()) {
      ASSERT_FALSE(parse_message(driver + std::string(ending))) << driver << ending;
      std::string padded = driver + std::string(kLongestRecord, ' ') + std::string(ending);
      for (std::size_t size = kShortestCut; size <= kLongestRecord; ++size) {
        padded.resize(kLongestRecord);
        ASSERT_FALSE(parse_message(std::string_view(padded).substr(0, size))) << driver << size;
      }
    }
  }
}

// The driver's own messages name a process too. Everything but that name is the driver's text.
TEST(ChosenNames, ChangeNothingElseOfAnXid) {
  for (const std::string_view message :
       {"13, pid=1, name={comm}, Graphics SM Warp Exception on (GPC 0, TPC 0): Illegal Instruction",
        "45, pid=1, name={comm}, Ch 00000001 caused by previous Xid 149",
        "74, pid=1, name={comm}, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, "
        "0x0, 0x0, 0x0)",
        "79, pid=1, name={comm}, GPU has fallen off the bus.",
        "149, pid=1, name={comm}, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 "
        "0x00000000 0x00000000 0x00000000 0x00000000)",
        "154, pid=1, name={comm}, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
        "Required)"}) {
    const auto with_name = [&](std::string_view name) {
      return parse_message("NVRM: Xid (PCI:0000:4e:00): " + test::with_names(message, name, ""))
          .value();
    };
    const Event plain = with_name("python3");
    for (const std::string& driver : messages_of_drivers()) {
      for (const std::string& name : names_from(driver)) {
        const Event event = with_name(std::string_view(name).substr(0, kLongestComm));
        ASSERT_EQ(event.code, plain.code) << name;
        ASSERT_EQ(event.pci, plain.pci) << name;
        ASSERT_EQ(event.link, plain.link) << name;
        ASSERT_EQ(event.registers, plain.registers) << name;
        ASSERT_EQ(event.fatality, plain.fatality) << name;
        ASSERT_EQ(event.unit, plain.unit) << name;
        ASSERT_EQ(event.recovery_to, plain.recovery_to) << name;
        ASSERT_EQ(event.caused_by_xid, plain.caused_by_xid) << name;
      }
    }
  }
}

}  // namespace
}  // namespace gpuward::xid
