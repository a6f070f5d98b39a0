// Each rule on small made-up trees: it finds the violations, and only those.
#include "tests/architecture/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tests/support/temp_dir.h"

namespace gpuward::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Files = std::vector<std::pair<std::string, std::string>>;

// The violations of `check` in a tree of these files, as `path:line`.
std::vector<std::string> broken(Violations (*check)(const SourceTree&), const Files& files) {
  const support::TempDir folder;
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories((folder / path).parent_path());
    folder.write(path, text);
  }
  std::vector<std::string> places;
  for (const Violation& violation : check(read_source_tree(folder.path()))) {
    places.push_back(violation.path + ":" + std::to_string(violation.line));
  }
  return places;
}

std::string including(std::string_view path) { return "#include \"" + std::string(path) + "\"\n"; }

TEST(ImportsPointOneWay, FromTheLaterToTheEarlier) {
  EXPECT_THAT(broken(imports_point_one_way,
                     {{"core/kube/a.cpp", including("core/http/client/client.h")},
                      {"core/http/client/a.cpp", including("core/http/syntax/url.h")},
                      {"exporter/publish/a.cpp", including("exporter/checks/all.h")},
                      {"exporter/main.cpp", including("exporter/publish/a.h")},
                      {"remediator/tell/page/a.cpp", including("remediator/act/a.h")},
                      {"exporter/gpu/a.cpp", including("exporter/gpu/nvidia/a.h")}}),
              IsEmpty());
}

TEST(ImportsPointOneWay, AndNeverBack) {
  for (const auto& [path, target] : std::vector<std::pair<std::string, std::string>>{
           {"core/model/a.cpp", "core/xid/parser.h"},
           {"core/xid/a.cpp", "core/runtime/json.h"},
           {"core/runtime/a.cpp", "core/http/client/client.h"},
           {"core/http/client/a.cpp", "core/http/server/server.h"},
           {"core/http/server/a.cpp", "core/http/client/client.h"},
           {"core/http/server/a.cpp", "core/kube/api.h"},
           {"core/metrics/a.cpp", "core/http/server/server.h"},
           {"core/kube/a.cpp", "exporter/gpu/scenario.h"},
           {"exporter/gpu/a.cpp", "exporter/host/sysfs.h"},
           {"exporter/checks/a.cpp", "exporter/publish/a.h"},
           {"exporter/publish/a.cpp", "exporter/config/flags.h"},
           {"remediator/policy/a.cpp", "remediator/decide/guards/a.h"},
           {"remediator/act/actions/a.cpp", "remediator/act/a.h"},
           {"remediator/inbox/sources/a.cpp", "remediator/act/actions/a.h"},
           {"exporter/gpu/nvidia/a.cpp", "exporter/gpu/scenario.h"}}) {
    EXPECT_THAT(broken(imports_point_one_way, {{path, "\n" + including(target)}}),
                ElementsAre(path + ":2"))
        << target;
  }
}

TEST(ImportsPointOneWay, NeverBetweenProgramsNorIntoTests) {
  EXPECT_THAT(
      broken(imports_point_one_way,
             {{"exporter/main.cpp", including("remediator/policy/a.h")},
              {"remediator/main.cpp", including("exporter/gpu/a.h")},
              {"remediator/tell/page/a.cpp", including("tests/fakes/fake_clock.h")}}),
      ElementsAre("exporter/main.cpp:1", "remediator/main.cpp:1", "remediator/tell/page/a.cpp:1"));
}

TEST(ImportsPointOneWay, AsksForAPlaceForEveryNewFolder) {
  EXPECT_THAT(
      broken(imports_point_one_way, {{"exporter/novelty/a.cpp", ""}, {"core/novelty/a.h", ""}}),
      ElementsAre("core/novelty/a.h:0", "exporter/novelty/a.cpp:0"));
}

TEST(FoldersFormNoCycle, EvenThroughAThird) {
  EXPECT_THAT(broken(folders_form_no_cycle, {{"core/a/x.h", including("core/b/x.h")},
                                             {"core/b/x.h", including("core/c/x.h")},
                                             {"core/c/x.h", including("core/a/y.h")},
                                             {"core/d/x.h", including("core/a/x.h")}}),
              ElementsAre("core/a:0", "core/b:0", "core/c:0"));
}

TEST(OwnIncludesAreRooted, AndLeadToAFile) {
  EXPECT_THAT(broken(own_includes_are_rooted,
                     {{"core/a/x.h", ""},
                      {"core/a/good.cpp", including("core/a/x.h") + including("t.inc")},
                      {"core/a/short.cpp", including("x.h")},
                      {"core/a/up.cpp", including("../a/x.h")},
                      {"core/a/angled.cpp", "#include <core/a/x.h>\n"}}),
              ElementsAre("core/a/angled.cpp:1", "core/a/short.cpp:1", "core/a/up.cpp:1"));
}

// `count` folders of the remediator, each of which includes the `targets` folders before it.
Files rooms(std::size_t count, std::size_t targets) {
  Files files;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t j = i - std::min(i, targets); j < i; ++j)
      text += including("remediator/room" + std::to_string(j) + "/a.h");
    files.emplace_back("remediator/room" + std::to_string(i) + "/a.cpp", text);
  }
  return files;
}

TEST(RoomsAreFew, AndSoAreFloorsAndArrows) {
  EXPECT_THAT(broken(rooms_are_few, rooms(8, 7)), IsEmpty());
  EXPECT_THAT(broken(rooms_are_few, rooms(10, 0)), IsEmpty());
  EXPECT_THAT(broken(rooms_are_few, rooms(11, 0)), ElementsAre("remediator:0"));
  EXPECT_THAT(broken(rooms_are_few, rooms(9, 1)), ElementsAre("remediator:0"));
  EXPECT_THAT(broken(rooms_are_few, rooms(12, 11)),
              ElementsAre("remediator:0", "remediator:0", "remediator:0"));
}

TEST(RoomsAreFew, ThoughTheyIncludeEachOther) {
  EXPECT_THAT(broken(rooms_are_few, {{"remediator/a/a.h", including("remediator/b/b.h")},
                                     {"remediator/b/b.h", including("remediator/a/a.h")}}),
              IsEmpty());
}

TEST(RoomsAreFew, WhateverFoldersTheyHave) {
  Files files = rooms(10, 0);
  files.emplace_back("remediator/room1/below/a.cpp", including("remediator/room1/a.h"));
  files.emplace_back("remediator/main.cpp", including("remediator/room9/a.h"));
  EXPECT_THAT(broken(rooms_are_few, files), IsEmpty());
}

TEST(LibrariesHaveOneDoor, AndNoOther) {
  EXPECT_THAT(broken(libraries_have_one_door,
                     {{"core/runtime/json.h", "#include <nlohmann/json.hpp>\n"},
                      {"core/runtime/yaml.cpp", "#include <yaml-cpp/parser.h>\n"},
                      {"core/runtime/log.cpp", "#include <spdlog/logger.h>\n"},
                      {"core/http/server/output.cpp", "#include <civetweb.h>\n"},
                      {"core/http/client/client.cpp", "#include <curl/curl.h>\n"},
                      {"core/metrics/exposition.cpp", "#include <prometheus/registry.h>\n"},
                      {"exporter/config/flags.cpp", "#include <CLI/CLI.hpp>\n"},
                      {"bench/scrape.cpp", "#include <prometheus/exposer.h>\n"},
                      {"tests/unit/a_test.cpp", "#include <gtest/gtest.h>\n"}}),
              IsEmpty());
  for (const std::string library :
       {"nlohmann/json.hpp", "yaml-cpp/yaml.h", "spdlog/spdlog.h", "civetweb.h", "curl/curl.h",
        "prometheus/registry.h", "CLI/CLI.hpp", "zlib.h", "fmt/format.h", "re2/re2.h",
        "gtest/gtest_prod.h"}) {
    EXPECT_THAT(broken(libraries_have_one_door,
                       {{"remediator/policy/a.cpp", "#include <" + library + ">\n"}}),
                ElementsAre("remediator/policy/a.cpp:1"));
  }
}

TEST(JsonStaysOutOfSeams, ButMayStandInAHeaderOfTheFolderItself) {
  EXPECT_THAT(
      broken(json_stays_out_of_seams, {{"core/kube/api.h", including("core/runtime/json.h")},
                                       {"core/kube/decode.h", including("core/runtime/json.h")},
                                       {"core/kube/decode.cpp", including("core/kube/decode.h")},
                                       {"remediator/main.cpp", including("core/kube/api.h")}}),
      ElementsAre("core/kube/api.h:1"));
}

TEST(TimeComesFromTheClock, AndFromNowhereElse) {
  const std::string now = "auto t = std::chrono::steady_clock::now();\n";
  EXPECT_THAT(broken(time_comes_from_the_clock,
                     {{"core/runtime/clock.cpp", now},
                      {"tests/unit/a_test.cpp", now},
                      {"core/http/client/a.cpp", "// never steady_clock::now()\n"},
                      {"core/http/client/b.cpp", "\n" + now},
                      {"remediator/policy/a.cpp",
                       "using std::chrono::system_clock;\nauto t = system_clock :: now();\n"}}),
              ElementsAre("core/http/client/b.cpp:2", "remediator/policy/a.cpp:2"));
}

TEST(DecisionsArePure, InPolicySafetyAndTheDrainsPlan) {
  EXPECT_THAT(
      broken(decisions_are_pure, {{"remediator/policy/a.cpp", including("core/kube/api.h")},
                                  {"remediator/decide/guards/a.cpp", "#include <fstream>\n"},
                                  {"remediator/decide/guards/b.h", "bool may(Clock& clock);\n"},
                                  {"remediator/decide/guards/c.h", "bool may(Clock::Wall now);\n"},
                                  {"remediator/act/drain/drain_a.h", including("core/kube/api.h")},
                                  {"remediator/act/drain/evictor.h", including("core/kube/api.h")},
                                  {"remediator/act/a.cpp", including("core/kube/api.h")}}),
      ElementsAre("remediator/act/drain/drain_a.h:1", "remediator/decide/guards/a.cpp:1",
                  "remediator/decide/guards/b.h:1", "remediator/policy/a.cpp:1"));
}

TEST(ThreadsHaveOwners, AndWaitOnTheClock) {
  EXPECT_THAT(broken(threads_have_owners,
                     {{"core/a.cpp", "worker.detach();\n"},
                      {"core/b.cpp", "std::this_thread::sleep_for(1s);\n"},
                      {"core/c.cpp", "std::thread worker(run);\n"},
                      {"core/d.cpp", "std::jthread worker(run); clock.sleep_for(1s, stop);\n"},
                      {"core/e.cpp", "auto cores = std::thread::hardware_concurrency();\n"},
                      {"tests/f_test.cpp", "::usleep(1000);\n"}}),
              ElementsAre("core/a.cpp:1", "core/b.cpp:1", "core/c.cpp:1", "tests/f_test.cpp:1"));
}

TEST(PlugInsStandInTheirTable, OrAreReported) {
  EXPECT_THAT(broken(plug_ins_stand_in_their_table,
                     {{"exporter/checks/all.cpp", including("exporter/checks/ecc_check.h")},
                      {"exporter/checks/ecc_check.cpp", ""},
                      {"exporter/checks/lost_check.cpp", ""},
                      {"exporter/checks/check_runner.cpp", ""}}),
              ElementsAre("exporter/checks/lost_check.cpp:0"));
}

TEST(PlugInsStandInTheirTable, WhichASecondOneNeeds) {
  EXPECT_THAT(
      broken(plug_ins_stand_in_their_table, {{"remediator/act/actions/cordon_action.cpp", ""}}),
      IsEmpty());
  EXPECT_THAT(
      broken(plug_ins_stand_in_their_table, {{"remediator/act/actions/cordon_action.cpp", ""},
                                             {"remediator/act/actions/drain_action.cpp", ""}}),
      ElementsAre("remediator/act/actions/cordon_action.cpp:0",
                  "remediator/act/actions/drain_action.cpp:0"));
}

TEST(NamesSaySomething, OfFilesAndOfFolders) {
  EXPECT_THAT(broken(names_say_something, {{"core/string_util.h", ""},
                                           {"core/common/a.h", ""},
                                           {"core/helpers.cpp", ""},
                                           {"core/node_manager.cpp", ""},
                                           {"core/misc.txt", ""},
                                           {"core/utilization.h", ""},
                                           {"core/uncommon.h", ""},
                                           {"tests/kube-controller-manager/main.go", ""}}),
              ElementsAre("core/common/a.h:0", "core/helpers.cpp:0", "core/misc.txt:0",
                          "core/node_manager.cpp:0", "core/string_util.h:0"));
}

TEST(HeadersSayWhatTheyAreFor, InTheirFirstLines) {
  EXPECT_THAT(broken(headers_say_what_they_are_for,
                     {{"core/good.h", "// One.\n// Two.\n#pragma once\n"},
                      {"core/after.h", "#pragma once\n\n// One.\n// Two.\nint x;\n"},
                      {"core/mute.h", "#pragma once\nint x;  // One.\n// Two.\n"},
                      {"core/short.h", "// One.\n#pragma once\n\n#include <string>\n// Two\n"},
                      {"core/twice.h", "// One.\n// Two.\nint x;\n"},
                      {"tests/short.h", "// One.\n#pragma once\n"},
                      {"tests/mute.h", "#pragma once\n"}}),
              ElementsAre("core/mute.h:1", "core/short.h:1", "core/twice.h:0", "tests/mute.h:1"));
}

TEST(NothingIsLeftToDo, InTheSources) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_THAT(broken(nothing_is_left_to_do, {{"core/a.cpp", "\n// " + mark + ": later\n"},
                                             {"core/b.cpp", "int to_do;\n"}}),
              ElementsAre("core/a.cpp:2"));
}

TEST(ProgramsStayInBuild, UnderWhateverName) {
  const std::string program = std::string("\x7f") + "ELF" + std::string(1, '\0');
  EXPECT_THAT(broken(programs_stay_in_build, {{"gpuward", program},
                                              {"build/release/bin/gpuward", program},
                                              {"docs/a.md", "ELF\n"}}),
              ElementsAre("gpuward:0"));
}

TEST(TextsNameNoMachineOrRegistry, ButMayHaveSuchFoldersOfTheirOwn) {
  const std::string machine = std::string("/wo") + "rk/main";
  const std::string home = std::string("/ro") + "ot/.cache";
  const std::string registry = std::string("https://deb.debian") + ".org/debian";
  EXPECT_THAT(broken(texts_name_no_machine_or_registry,
                     {{"dev", "x\ncd " + machine + "\n"},
                      {"README.md", "`" + home + "`\n"},
                      {"docs/a.md", registry + "\n"},
                      {"docs/b.md", "$HOME" + machine + " src" + machine + "\n"}}),
              ElementsAre("README.md:1", "dev:2", "docs/a.md:1"));
}

Files contracts(const std::string& rows) {
  return {{"docs/contracts.md", "| row | tests |\n|---|---|\n" + rows},
          {"tests/unit/a_test.cpp", "TEST_F(Suite,\n       IsKept) {}\n// TEST(Suite, Was) {}\n"},
          {"tests/cluster/b.py", "class Suite(Test):\n    def test_it(self):\n"}};
}

TEST(RootsAreSmall, IfSixFilesStandThere) {
  Files files{{"exporter/commands/a.cpp", ""}};
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    files.push_back({std::string("exporter/") + name + ".cpp", ""});
  EXPECT_THAT(broken(roots_are_small, files), IsEmpty());
  files.push_back({"exporter/g.cpp", ""});
  EXPECT_THAT(broken(roots_are_small, files), ElementsAre("exporter:0"));
}

TEST(ContractsHaveTests, ThatExist) {
  EXPECT_THAT(broken(contracts_have_tests, contracts("| a | `unit/a_test.cpp:Suite.IsKept` |\n"
                                                     "| b | not built: nobody has asked |\n"
                                                     "| c | `unit/a_test.cpp:Suite.Was` |\n"
                                                     "| d | `unit/b_test.cpp:Suite.IsKept` |\n"
                                                     "| e | later |\n")),
              ElementsAre("docs/contracts.md:5", "docs/contracts.md:6", "docs/contracts.md:7"));
}

TEST(ContractsHaveTests, AlsoOnTheCluster) {
  EXPECT_THAT(broken(contracts_have_tests, contracts("| a | `cluster/b.py:Suite.test_it` |\n"
                                                     "| b | `cluster/b.py:Suite.test_other` |\n")),
              ElementsAre("docs/contracts.md:4"));
}

TEST(ContractsHaveTests, ForEachNumberOfASeed) {
  EXPECT_THAT(
      broken(contracts_have_tests, contracts("| 000-1 | a | `unit/a_test.cpp:Suite.IsKept` |\n"
                                             "| 000-2 | b | not built: nobody has asked |\n"
                                             "| 001-1 | c | `unit/a_test.cpp:Suite.IsKept` |\n"
                                             "| 000-4 | d | `unit/a_test.cpp:Suite.IsKept` |\n"
                                             "| 001-2 | e | later |\n")),
      ElementsAre("docs/contracts.md:6", "docs/contracts.md:7"));
}

TEST(ContractsHaveTests, OnAPageThatIsThere) {
  EXPECT_THAT(broken(contracts_have_tests, {}), ElementsAre("docs/contracts.md:0"));
}

TEST(FoldersAreInTheMap, IfTheyHaveAFile) {
  Files files{{"docs/architecture.md", "`exporter/a/`"}, {"exporter/a/x.cpp", ""}};
  EXPECT_THAT(broken(folders_are_in_the_map, files), IsEmpty());
  files.push_back({"remediator/b/x.cpp", ""});
  EXPECT_THAT(broken(folders_are_in_the_map, files), ElementsAre("docs/architecture.md:0"));
}

// Four walks; the first goes from a.cpp to b.cpp.
Files walk_of_two(const std::string& through) {
  const std::string rest = "text\n| `core/a.cpp` | | |\n";
  return {{"docs/architecture.md", "| `core/a.cpp` | | begins |\n| `core/b.cpp` | " + through +
                                       "| ends |\n" + rest + rest + rest},
          {"core/a.cpp", including("core/seam.h")},
          {"core/b.cpp", ""},
          {"core/b.h", including("core/seam.h")}};
}

TEST(WalksLeadFromFileToFile, ByIncludingOneAnother) {
  Files files = walk_of_two("");
  EXPECT_THAT(broken(walks_lead_from_file_to_file, files), ElementsAre("docs/architecture.md:2"));
  files[1].second += including("core/b.h");
  EXPECT_THAT(broken(walks_lead_from_file_to_file, files), IsEmpty());
}

TEST(WalksLeadFromFileToFile, ThroughWhatBothKnow) {
  EXPECT_THAT(broken(walks_lead_from_file_to_file, walk_of_two("`core/seam.h` ")), IsEmpty());
  EXPECT_THAT(broken(walks_lead_from_file_to_file, walk_of_two("`core/other.h` ")),
              ElementsAre("docs/architecture.md:2"));
}

TEST(WalksLeadFromFileToFile, WhichAreThere) {
  EXPECT_THAT(broken(walks_lead_from_file_to_file, {{"docs/architecture.md", "| `a.cpp` | | |\n"}}),
              ElementsAre("docs/architecture.md:0", "docs/architecture.md:1"));
}

TEST(WalksAreShort, AndNameEachFileOnce) {
  const auto page = [](int files) {
    std::string text = "## An alert becomes a cordon\n\n";
    for (int i = 0; i < files; ++i) text += "| `core/a" + std::to_string(i) + ".cpp` | | |\n";
    text += "\n## A Remediation evicts a pod\n\n| `core/b.cpp` | | |\n";
    return Files{{"docs/architecture.md", text}};
  };
  EXPECT_THAT(broken(walks_are_short, page(9)), IsEmpty());
  EXPECT_THAT(broken(walks_are_short, page(10)), ElementsAre("docs/architecture.md:3"));
  Files twice = page(1);
  twice[0].second += "| `core/b.cpp` | | |\n";
  EXPECT_THAT(broken(walks_are_short, twice), ElementsAre("docs/architecture.md:7"));
  EXPECT_THAT(broken(walks_are_short, {{"docs/architecture.md", ""}}),
              ElementsAre("docs/architecture.md:0", "docs/architecture.md:0"));
}

TEST(SourceTreeReading, LeavesBuildFoldersAndBinariesOut) {
  const std::string machine = std::string("/wo") + "rk/main";
  EXPECT_THAT(
      broken(texts_name_no_machine_or_registry,
             {{"build/debug/x.txt", machine}, {"data.bin", machine + std::string(1, '\0')}}),
      IsEmpty());
}

TEST(BlankCommentsAndLiterals, LeavesTheCodeInItsPlace) {
  EXPECT_EQ(blank_comments_and_literals("a; // b\nc /* d\ne */ f \"g\\\"h\" 'i' 1'000"),
            "a;     \nc     \n     f            1'000");
  EXPECT_THAT(blank_comments_and_literals("x R\"(detach() \" )\" y"), HasSubstr("y"));
  EXPECT_THAT(blank_comments_and_literals("R\"j(\")\")j\" y"), HasSubstr("y"));
}

}  // namespace
}  // namespace gpuward::architecture
