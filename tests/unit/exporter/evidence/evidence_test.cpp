// The parts of the command collect-evidence: archive, folder, tools, collectors.
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/evidence/archive.h"
#include "exporter/evidence/collect.h"
#include "exporter/evidence/folder.h"
#include "exporter/evidence/tools.h"
#include "tests/support/environment.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Clock::Wall kNow = parse_rfc3339("2026-01-28T02:00:00Z").value_or(Clock::Wall());

TEST(EvidenceArchive, IsReadByTar) {
  const support::TempDir folder;
  const std::string long_name = std::string(96, 'n') + ".txt";
  const auto packed =
      pack(std::string(100, 'f'),
           {{"a.txt", "one\n"}, {"empty", ""}, {long_name, std::string(1025, 'x')}}, kNow);
  ASSERT_TRUE(packed);
  const auto path = folder.write("a.tar.gz", *packed);

  const auto unpacked =
      support::Process::run({.argv = {"tar", "xzf", path.string(), "-C", folder.path().string()}});

  ASSERT_TRUE(unpacked);
  EXPECT_EQ(unpacked->exit_code, 0) << unpacked->error_output;
  EXPECT_THAT(unpacked->error_output, IsEmpty());
  const fs::path inside = folder / std::string(100, 'f');
  EXPECT_EQ(read_file(inside / "a.txt").value_or(""), "one\n");
  EXPECT_EQ(read_file(inside / "empty").value_or("?"), "");
  EXPECT_EQ(read_file(inside / long_name).value_or(""), std::string(1025, 'x'));
}

TEST(EvidenceName, IsTheRemediationsAndTheTime) {
  EXPECT_EQ(evidence_name("gpu-01.example-ab-1", kNow).value_or(""),
            "gpu-01.example-ab-1-20260128T020000Z");
}

TEST(EvidenceName, IsNoPath) {
  for (const char* name : {"", ".", "..", "../x", "/etc/passwd", "a/b", "a\nb", "A", "a..b"})
    EXPECT_FALSE(evidence_name(name, kNow)) << name;
}

TEST(EvidenceName, OfALongRemediationIsStillAFilesOwn) {
  const std::string part(60, 'a');
  const std::string begin = part + "." + part + "." + part + "." + part;
  const auto one = evidence_name(begin + ".1", kNow), two = evidence_name(begin + ".2", kNow);
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_LE(one->size(), 230U);
}

class EvidenceFolderTest : public ::testing::Test {
 protected:
  // The files are written in this order.
  void add(const std::string& name, std::size_t size) {
    const auto path = folder_.write(name, std::string(size, 'x'));
    fs::last_write_time(path,
                        fs::file_time_type::clock::now() - std::chrono::hours(100 - ++written_));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      all.push_back(entry.path().filename().string());
    std::ranges::sort(all);
    return all;
  }
  support::TempDir folder_;
  int written_ = 0;
};

TEST_F(EvidenceFolderTest, KeepsTheNewestFiles) {
  for (const char* name : {"z", "b", "a"}) add(name, 10);
  make_room(folder_.path(), 10, {.files = 3, .bytes = 1000});
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(EvidenceFolderTest, KeepsNoMoreThanItsBytes) {
  for (const char* name : {"z", "b", "a"}) add(name, 400);
  make_room(folder_.path(), 500, {.files = 20, .bytes = 1000});
  EXPECT_THAT(names(), ElementsAre("a"));
  make_room(folder_.path(), 5000, {.files = 20, .bytes = 1000});
  EXPECT_THAT(names(), IsEmpty()) << "the one that comes is kept however large it is";
}

TEST_F(EvidenceFolderTest, FollowsNoLinkAndLeavesFoldersAlone) {
  const support::TempDir elsewhere;
  const auto kept = elsewhere.write("kept", "x");
  fs::create_symlink(kept, folder_ / "link");
  fs::create_directory(folder_ / "folder");
  add("a", 10);
  make_room(folder_.path(), 10, {.files = 1, .bytes = 1});
  EXPECT_THAT(names(), ElementsAre("folder", "link"));
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(EvidenceFolderTest, IsRootsAlone) {
  const auto path =
      save_evidence(folder_ / "evidence", "a.tar.gz", "abc", {.files = 2, .bytes = 100});
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(read_file(*path).value_or(""), "abc");
  EXPECT_EQ(fs::status(*path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(folder_ / "evidence").permissions(), fs::perms::owner_all);
}

// A node without any of the tools, except for those that a test writes.
class CollectTest : public ::testing::Test {
 protected:
  void add_tool(const std::string& name, const std::string& script) {
    fs::permissions(folder_.write(name, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  }
  void add_to_node(const fs::path& path) {
    const fs::path place = folder_ / "proc/1/root" / path;
    fs::create_directories(place.parent_path());
    std::ofstream(place) << "#!/bin/sh\n";
    fs::permissions(place, fs::perms::owner_all);
  }
  Collected run(std::vector<Collector> collectors, std::chrono::milliseconds timeout = 1h) {
    return collect(collectors, {.proc = folder_ / "proc",
                                .environment = {{"AWS_SECRET_ACCESS_KEY", ""}},
                                .timeout = timeout,
                                .clock = clock_,
                                .stop = stopping_.get_token()});
  }
  Collector tool(std::chrono::seconds timeout = support::kGenerous, std::size_t max_bytes = 1000,
                 EvidencePart part = EvidencePart::kOutput) {
    return {"tool.txt", "tool", {}, timeout, max_bytes, part};
  }
  support::TempDir folder_;
  support::Environment path_{"PATH", folder_.path().string() + ":/usr/bin:/bin"};
  SystemClock clock_;
  std::stop_source stopping_;
};

TEST_F(CollectTest, TakesWhatToolsPrint) {
  add_tool("tool", "echo said");
  const Collected all = run({tool()});
  ASSERT_EQ(all.files.size(), 1U);
  EXPECT_EQ(all.files[0].name, "tool.txt");
  EXPECT_EQ(all.files[0].content, "said\n");
  EXPECT_THAT(all.summary, HasSubstr("tool.txt: complete"));
  EXPECT_THAT(all.incomplete, IsEmpty());
}

TEST_F(CollectTest, PassesOverWhatIsNotThere) {
  const Collected all = run({tool()});
  EXPECT_THAT(all.files, IsEmpty());
  EXPECT_THAT(all.incomplete, IsEmpty());
  EXPECT_EQ(all.summary, "tool.txt: there is no tool\n");
}

TEST_F(CollectTest, TakesWhatAToolThatFailsHasSaid) {
  add_tool("tool", "echo half; echo 'No devices were found' >&2; exit 6");
  const Collected all = run({tool()});
  ASSERT_EQ(all.files.size(), 1U);
  EXPECT_THAT(all.files[0].content, AllOf(HasSubstr("half"), HasSubstr("No devices were found")));
  EXPECT_THAT(all.incomplete, ElementsAre("tool.txt"));
  EXPECT_THAT(all.summary, HasSubstr("ended with 6: No devices were found"));
}

TEST_F(CollectTest, EndsAToolThatHangs) {
  add_tool("tool", "exec sleep 600");
  const auto begun = clock_.steady();
  const Collected all = run({tool(1s)});
  EXPECT_LT(clock_.steady() - begun, support::kGenerous);
  EXPECT_THAT(all.incomplete, ElementsAre("tool.txt"));
  EXPECT_THAT(all.summary, HasSubstr("was killed"));
}

TEST_F(CollectTest, BeginsNothingOnceTheTimeOfAllIsOver) {
  add_tool("tool", "exec sleep 600");
  add_tool("other", "echo said");
  Collector other = tool();
  other.file = "other.txt";
  other.program = "other";
  const Collected all = run({tool(), other}, 300ms);
  EXPECT_THAT(all.incomplete, ElementsAre("tool.txt", "other.txt"));
  EXPECT_THAT(all.summary, HasSubstr("other.txt: not begun"));
}

TEST_F(CollectTest, BeginsNothingAfterAStop) {
  add_tool("tool", "echo said");
  stopping_.request_stop();
  EXPECT_THAT(run({tool()}).files, IsEmpty());
}

TEST_F(CollectTest, TakesNoMoreThanItsBytes) {
  add_tool("tool", "head -c 5000 /dev/zero | tr '\\0' x; echo end");
  const Collected cut = run({tool()});
  EXPECT_THAT(cut.incomplete, ElementsAre("tool.txt"));
  EXPECT_LE(cut.files.at(0).content.size(), 1000U);
  const Collected tail = run({tool(support::kGenerous, 1000, EvidencePart::kTail)});
  EXPECT_EQ(tail.files.at(0).content.size(), 1000U);
  EXPECT_TRUE(tail.files.at(0).content.ends_with("xend\n"));
}

TEST_F(CollectTest, GivesNoToolTheKeysOfTheCloud) {
  const support::Environment secret("AWS_SECRET_ACCESS_KEY", "very-secret");
  add_tool("tool", "env");
  EXPECT_THAT(run({tool()}).files.at(0).content, Not(HasSubstr("very-secret")));
}

constexpr std::array<std::string_view, 1> kOutputFile{"--output-file"};

TEST_F(CollectTest, TakesTheReportThatAToolWritesAndLeavesNothingBehind) {
  add_tool("tool", "echo \"$2\" > " + (folder_ / "where").string() + "; echo report > \"$2.gz\"");
  Collector report = tool(support::kGenerous, 1000, EvidencePart::kReport);
  report.arguments = kOutputFile;
  const Collected all = run({report});
  ASSERT_EQ(all.files.size(), 1U) << all.summary;
  EXPECT_EQ(all.files[0].content, "report\n");
  const fs::path where = std::string(trim(read_file(folder_ / "where").value_or("")));
  EXPECT_TRUE(where.is_absolute());
  EXPECT_FALSE(fs::exists(where.parent_path()));
}

TEST_F(CollectTest, TakesWhatAReportHadWhenItWasEnded) {
  add_tool("tool",
           "echo half > \"$2\"; touch " + (folder_ / "written").string() + "; exec sleep 600");
  Collector report = tool(support::kGenerous, 1000, EvidencePart::kReport);
  report.arguments = kOutputFile;
  const std::jthread ender([&] {
    static_cast<void>(support::poll_until([&] { return fs::exists(folder_ / "written"); }));
    stopping_.request_stop();
  });
  const Collected all = run({report});
  ASSERT_EQ(all.files.size(), 1U) << all.summary;
  EXPECT_EQ(all.files[0].content, "half\n");
  EXPECT_THAT(all.incomplete, ElementsAre("tool.txt"));
}

// The limit holds in memory and on the disk of the node.
TEST_F(CollectTest, LetsNoReportGrowBeyondItsBytes) {
  add_tool("tool", "head -c 100000 /dev/zero > \"$2\"; ls -l \"$2\" >&2; exit 1");
  Collector report = tool(30s, 1024, EvidencePart::kReport);
  report.arguments = kOutputFile;
  const Collected all = run({report});
  ASSERT_EQ(all.files.size(), 1U) << all.summary;
  EXPECT_EQ(all.files[0].content.size(), 1024U);
  EXPECT_THAT(all.summary, HasSubstr(" 1024 "));
}

// Debian's alternatives, and /opt/rocm: links that begin at the node's root.
TEST_F(CollectTest, FollowsTheNodesOwnLinks) {
  add_to_node("opt/rocm-6.2/bin/rocm-smi");
  add_to_node("usr/lib/nvidia/nvidia-smi");
  const fs::path root = folder_ / "proc/1/root";
  fs::create_directory_symlink("/opt/rocm-6.2", root / "opt/rocm");
  fs::create_directories(root / "etc/alternatives");
  fs::create_directories(root / "usr/bin");
  fs::create_symlink("/etc/alternatives/nvidia-smi", root / "usr/bin/nvidia-smi");
  fs::create_symlink("../../usr/lib/nvidia/nvidia-smi", root / "etc/alternatives/nvidia-smi");
  fs::create_symlink("/usr/bin/amd-smi", root / "usr/bin/amd-smi");

  const auto rocm = find_tool("rocm-smi", folder_ / "proc");
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->within, "/opt/rocm/bin/rocm-smi");
  const auto smi = find_tool("nvidia-smi", folder_ / "proc");
  ASSERT_TRUE(smi);
  EXPECT_EQ(smi->within, "/usr/bin/nvidia-smi");
  EXPECT_FALSE(find_tool("amd-smi", folder_ / "proc")) << "it leads to itself";
}

TEST_F(CollectTest, LooksForToolsOnTheNodeAndInTheDriversContainer) {
  EXPECT_FALSE(find_tool("nvidia-bug-report.sh", folder_ / "proc"));
  add_to_node("run/nvidia/driver/usr/bin/nvidia-bug-report.sh");
  const auto contained = find_tool("nvidia-bug-report.sh", folder_ / "proc");
  ASSERT_TRUE(contained);
  EXPECT_EQ(contained->root, folder_ / "proc/1/root/run/nvidia/driver");
  add_to_node("usr/bin/nvidia-bug-report.sh");
  const auto on_node = find_tool("nvidia-bug-report.sh", folder_ / "proc");
  ASSERT_TRUE(on_node);
  EXPECT_THAT(command_of(*on_node, {"-h"}),
              ElementsAre("chroot", (folder_ / "proc/1/root").string(),
                          "/usr/bin/nvidia-bug-report.sh", "-h"));
  add_tool("nvidia-bug-report.sh", "");
  const auto own = find_tool("nvidia-bug-report.sh", folder_ / "proc");
  ASSERT_TRUE(own);
  EXPECT_THAT(command_of(*own, {}), ElementsAre((folder_ / "nvidia-bug-report.sh").string()));
}

// A root with a shell and nothing else.
TEST_F(CollectTest, RunsTheNodesOwnProgramInTheNodesRoot) {
  GPUWARD_REQUIRE(::geteuid() == 0 ? "" : "chroot is for root alone");
  const fs::path root = folder_ / "proc/1/root";
  for (const char* made : {"bin", "tmp", "usr/bin"}) fs::create_directories(root / made);
  const auto libraries =
      support::Process::run({.argv = {"sh", "-c", "ldd /bin/sh | grep -o '/[^ ]*\\.so[^ ]*'"}});
  ASSERT_TRUE(libraries);
  std::istringstream names(libraries->output + "/bin/sh\n");
  for (std::string name; std::getline(names, name);) {
    fs::create_directories((root / name.substr(1)).parent_path());
    fs::copy_file(name, root / name.substr(1), fs::copy_options::overwrite_existing);
  }
  std::ofstream(root / "usr/bin/tool") << "#!/bin/sh\necho in here: /usr/bin/* > \"$2\"\n";
  fs::permissions(root / "usr/bin/tool", fs::perms::owner_all);
  Collector report = tool(support::kGenerous, 1000, EvidencePart::kReport);
  report.arguments = kOutputFile;

  const Collected all = run({report});

  ASSERT_EQ(all.files.size(), 1U) << all.summary;
  EXPECT_EQ(all.files[0].content, "in here: /usr/bin/tool\n");
  EXPECT_TRUE(fs::is_empty(root / "tmp"));
}

TEST(Collectors, FitIntoTheTimeAndTheBytesThatAreSaid) {
  std::size_t bytes = 0;
  std::chrono::seconds nvidia{0}, amd{0};
  for (const Collector& one : all_collectors()) {
    bytes += one.max_bytes;
    (one.program.starts_with("nvidia") ? nvidia : amd) += one.timeout;
  }
  EXPECT_LE(bytes, 64U << 20U) << "docs/evidence.md";
  EXPECT_LE(amd, 180s);
  EXPECT_EQ(all_collectors().back().program, "nvidia-bug-report.sh")
      << "what takes longest may be cut";
}

}  // namespace
}  // namespace gpuward::exporter
