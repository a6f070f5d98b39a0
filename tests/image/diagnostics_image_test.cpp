// The diagnostics image: the exporter on another image, which has the programs of the checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "tests/image/root_fs.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::image {
namespace {

namespace fs = std::filesystem;
using support::Process;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A second C library beside the base's, which loads the driver's libraries, would be an error.
TEST(DiagnosticsImage, BringsTheExporterAndItsLibrariesButNoRuntimeOfCOrCpp) {
  const RootFs root("exporter-diagnostics");
  for (const std::string& file : root.files()) {
    if (file == "/usr/bin/gpuward-exporter") continue;
    EXPECT_THAT(file, StartsWith("/usr/lib/gpuward/lib"));
    EXPECT_THAT(file, Not(ContainsRegex("/lib(c|m|resolv|stdc[+][+]|gcc_s|crypt)[.]so")));
  }
  EXPECT_LT(root.bytes(), 32U << 20U);
}

TEST(DiagnosticsImage, LoadsNoOtherLibraryOfTheBaseThanItsRuntime) {
  const RootFs root("exporter-diagnostics");
  const std::string program = (root.path() / "usr/bin/gpuward-exporter").string();
  const auto loaded = Process::run({.argv = {"ldd", program}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  std::istringstream lines(loaded->output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("/usr/bin/../lib/gpuward/") != std::string::npos) continue;
    EXPECT_THAT(line, ContainsRegex("(linux-vdso|/ld-linux[-a-z0-9_]*|/lib(c|m|resolv|stdc[+][+]|"
                                    "gcc_s|crypt))[.]so"));
  }
}

// The highest number in the parentheses of `pattern`; 0 if there is none.
int newest_in(const std::string& text, const std::string& pattern) {
  const std::regex version(pattern);
  int newest = 0;
  for (std::sregex_iterator one(text.begin(), text.end(), version), end; one != end; ++one)
    newest = std::max(newest, std::stoi((*one)[1]));
  return newest;
}

// The bases that are new enough, according to the Containerfile and docs/install.md.
TEST(DiagnosticsImage, NeedsGlibc234AndTheLibraryOfGcc12) {
  const RootFs root("exporter-diagnostics");
  std::string symbols;
  for (const std::string& file : root.files()) {
    const auto dumped = Process::run({.argv = {"objdump", "-T", root.path().string() + file}});
    ASSERT_TRUE(dumped) << dumped.error().message;
    symbols += dumped->output;
  }
  EXPECT_EQ(newest_in(symbols, "GLIBC_2[.]([0-9]+)"), 34);
  EXPECT_EQ(newest_in(symbols, "GLIBCXX_3[.]4[.]([0-9]+)"), 30);
}

constexpr std::chrono::seconds kBuildLimit{300};

// Uses its own images and containers, made by buildah; removes all of them.
class Buildah {
 public:
  [[nodiscard]] static std::string why_unavailable() {
    if (::geteuid() != 0) return "only root may chroot into an image";
    return support::why_no_program("buildah");
  }

  // Returns all that it has printed; the test fails if its exit code is not 0.
  [[nodiscard]] std::string run(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{"buildah", "--storage-driver=vfs",
                                  "--root=" + (folder_ / "storage").string(),
                                  "--runroot=" + (folder_ / "run").string()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto outcome = Process::run({.argv = std::move(argv)}, kBuildLimit);
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome) return {};
    EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
    return outcome->output + outcome->error_output;
  }
  // Builds an image from the files in `context`, with a stage of a Containerfile.
  [[nodiscard]] std::string build(const std::string& name, const fs::path& containerfile,
                                  const fs::path& context,
                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"build", "--isolation=chroot", "--pull=never", "--tag=" + name,
                                   "--file=" + containerfile.string()};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(context.string());
    return run(words);
  }

 private:
  support::TempDir folder_;
};

// Makes a base: this machine's libfabric programs on the contents of the exporter's own image, with
// a shell and the run-time libraries.
void add_fabric_programs(const fs::path& root) {
  const auto added = Process::run({.argv = {"bash", "-c", R"sh(set -euo pipefail
programs="$(command -v fi_info) $(command -v fi_pingpong)"
cp $programs "$0/usr/bin"
ldd $programs | grep -o '/[^ ]*[.]so[^ ]*' | sed 's,^/usr,,' | sort -u | while read -r library; do
  cp --dereference --no-clobber "/usr$library" "$0/usr$library"
done)sh",
                                            root.string()}}  // namespace
  );
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(added->exit_code, 0) << added->error_output;
}  // namespace gpuward::image

// The stages after the build stage, on its expected result.
std::string last_stages() {
  const std::string text = read_file(fs::path(GPUWARD_SOURCE_DIR) / "Containerfile").value_or("");
  const auto arguments = text.find("ARG DEBIAN=");
  return text.substr(arguments, text.find("\nFROM ") + 1 - arguments) +
         text.substr(text.find("FROM scratch AS "));
}

TEST(DiagnosticsImage, IsBuiltOnABaseOfOnesChoiceAndRunsTheChecksOfItsPrograms) {
  GPUWARD_REQUIRE(Buildah::why_unavailable());
  for (const char* program : {"fi_info", "fi_pingpong"})
    GPUWARD_REQUIRE(support::why_no_program(program));
  const RootFs base("exporter"), ours("exporter-diagnostics");
  add_fabric_programs(base.path());
  const support::TempDir files;
  std::ofstream(files / "Base") << "FROM scratch\nCOPY . /\n";
  std::ofstream(files / "Containerfile") << last_stages();
  fs::create_directory(files / "build");
  fs::rename(ours.path(), files / "build/exporter-diagnostics");
  const Buildah buildah;

  (void)buildah.build("base", files / "Base", base.path());
  const std::string built =
      buildah.build("diagnostics", files / "Containerfile", files.path(),
                    {"--target=exporter-diagnostics", "--build-arg=DIAGNOSTICS_BASE=localhost/base",
                     "--build-context=build=" + (files / "build").string()});

  EXPECT_THAT(built, HasSubstr("\ngpuward-exporter " GPUWARD_VERSION "\n"));
  EXPECT_THAT(built, ContainsRegex("\n4-dcgm-diag-l4 +no +- +dcgmi;"));
  EXPECT_THAT(built,
              ContainsRegex("\n6-efa-loopback +yes +/usr/bin/fi_pingpong, /usr/bin/fi_info"));
  (void)buildah.run({"from", "--pull=never", "--name=node", "localhost/diagnostics"});
  const std::string checked =
      buildah.run({"run", "--isolation=chroot", "--env=FI_TCP_IFACE=lo", "node", "--", "sh", "-c",
                   R"(echo 'checks: {efa_min_gbits: 0.001}
instance: {type: test.large, profiles: [{type: test.large, provider: "tcp;ofi_rxm"}]}' >/tmp/config.yaml
exec gpuward-exporter check --check 6 --gpu.none --config.file=/tmp/config.yaml --state.path=/tmp/state)"});
  EXPECT_THAT(checked,
              AllOf(HasSubstr("6-efa-loopback: pass"),
                    ContainsRegex("1 of 1 devices completed the loopback test, .* Gbit/s")));
}

}  // namespace
}  // namespace gpuward::image
